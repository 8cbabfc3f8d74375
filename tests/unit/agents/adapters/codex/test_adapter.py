"""The Codex adapter as a whole."""

import pytest

from termvisor.agents.adapters.adapter import CONTRACT_VERSION, ProcessInfo
from termvisor.agents.adapters.codex import ADAPTER
from termvisor.agents.adapters.codex.adapter import (
    find_codex_home,
    find_process,
    find_resumed_session,
    find_working_folder,
    parse_command_line,
    uses_shared_server,
)


def test_the_adapter_has_the_current_contract_version():
    assert ADAPTER.contract_version == CONTRACT_VERSION
    assert ADAPTER.env_names == ("HOME", "CODEX_HOME")


def test_a_session_is_resumed_by_its_id():
    assert ADAPTER.build_resume_command("0199aaaa-0000-7000-8000-000000000001") == (
        "codex",
        "resume",
        "0199aaaa-0000-7000-8000-000000000001",
    )
    assert ADAPTER.build_resume_command("") == ()


BINARY = "/opt/codex/vendor/bin/codex"
THREAD = "01a1e290-84e2-7552-9a96-bdc8cca6f404"


def build_process(*argv: str, pid: int = 7, cwd: str = "/src", **env: str) -> ProcessInfo:
    return ProcessInfo(pid=pid, argv=argv, cwd=cwd, env=env)


@pytest.mark.parametrize(
    "argv",
    [
        (BINARY,),
        ("codex",),
        (BINARY, "fix the build"),
        (BINARY, "-m", "gpt-6", "--cd", "/other"),
        (BINARY, "resume", THREAD),
        (BINARY, "-c", "model=x", "resume", "--last"),
        (BINARY, "exec", "say hello"),
        ("node", "/usr/lib/node_modules/@openai/codex/bin/codex.js"),
        ("node", "/usr/local/bin/codex", "fix it"),
        ("node", "/home/dev/work/node_modules/.bin/codex"),
        (BINARY, "--disable", "app-server"),
        (BINARY, "--", "app-server"),
    ],
    ids=lambda argv: " ".join(argv[-2:]),
)
def test_a_codex_process_is_found(argv):
    assert find_process([build_process("-bash", pid=1), build_process(*argv)]) == build_process(*argv)


@pytest.mark.parametrize(
    "argv",
    [
        (BINARY, "app-server", "--listen", "unix://"),
        (BINARY, "app-server", "daemon", "pid-update-loop"),
        (BINARY, "mcp", "list"),
        (BINARY, "--version"),
        ("/home/dev/.codex/tmp/arg0/codex-linux-sandbox", "--", "touch", "x"),
        ("/home/dev/.codex/tmp/arg0/apply_patch", "codex"),
        ("vim", "codex"),
        ("node", "/home/dev/codex.js"),
        (),
    ],
    ids=lambda argv: " ".join(argv[-2:]) or "nothing",
)
def test_another_process_is_not_taken_for_codex(argv):
    assert find_process([build_process(*argv)]) is None


def test_the_program_is_found_before_its_start_script():
    wrapper = build_process("node", "/usr/lib/node_modules/@openai/codex/bin/codex.js", pid=2)
    server = build_process(BINARY, "app-server", pid=4)
    assert find_process([wrapper, build_process(BINARY, pid=3), server]) == build_process(BINARY, pid=3)


def test_codex_home_is_set_by_the_environment_or_below_home():
    assert find_codex_home(build_process(HOME="/home/dev")) == "/home/dev/.codex"
    assert find_codex_home(build_process(HOME="/home/dev", CODEX_HOME="/data/codex")) == "/data/codex"
    assert find_codex_home(build_process()) == ""


def test_the_working_folder_comes_from_the_command_line():
    assert find_working_folder(build_process(BINARY)) == "/src"
    assert find_working_folder(build_process(BINARY, "-C", "../lib")) == "/lib"
    assert find_working_folder(build_process(BINARY, "--cd=/data")) == "/data"
    assert find_working_folder(build_process(BINARY, cwd="")) == ""


def test_only_resume_with_an_id_proves_a_thread():
    assert find_resumed_session(build_process(BINARY, "resume", THREAD)) == THREAD
    assert find_resumed_session(build_process(BINARY, "--search", "resume", THREAD, "go on")) == THREAD
    assert find_resumed_session(build_process(BINARY, "resume", "--last")) == ""
    assert find_resumed_session(build_process(BINARY, "resume", "my-session")) == ""
    assert find_resumed_session(build_process(BINARY, "fork", THREAD)) == ""
    assert find_resumed_session(build_process(BINARY, THREAD)) == ""


def test_a_codex_with_its_own_server_does_not_use_the_shared_one():
    assert uses_shared_server(build_process(BINARY))
    assert uses_shared_server(build_process(BINARY, "--disable", "shell_snapshot"))
    for arguments in (("--no-daemon",), ("--disable", "daemon_auto_start"), ("--remote", "unix:///x"), ("exec", "hi")):
        assert not uses_shared_server(build_process(BINARY, *arguments))


def test_a_prompt_is_not_a_subcommand():
    assert parse_command_line(build_process(BINARY, "resume the work")).subcommand == ""
    assert parse_command_line(build_process(BINARY, "resume", "x")).arguments == ("x",)
