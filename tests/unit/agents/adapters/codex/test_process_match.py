import pytest

from termvisor.agents.adapters.adapter import Process
from termvisor.agents.adapters.codex.process_match import (
    call_of,
    home_of,
    recognise,
    resumed_by,
    uses_shared_server,
    workplace_of,
)

BINARY = "/opt/codex/vendor/bin/codex"
THREAD = "01a1e290-84e2-7552-9a96-bdc8cca6f404"


def process(*argv: str, pid: int = 7, cwd: str = "/src", **env: str) -> Process:
    return Process(pid=pid, argv=argv, cwd=cwd, env=env)


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
def test_a_codex_at_work_is_one(argv):
    assert recognise([process("-bash", pid=1), process(*argv)]) == process(*argv)


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
def test_what_only_looks_like_it_is_none(argv):
    assert recognise([process(*argv)]) is None


def test_the_program_is_meant_not_the_script_that_starts_it():
    wrapper = process("node", "/usr/lib/node_modules/@openai/codex/bin/codex.js", pid=2)
    server = process(BINARY, "app-server", pid=4)
    assert recognise([wrapper, process(BINARY, pid=3), server]) == process(BINARY, pid=3)


def test_its_home_is_named_or_is_the_usual_one():
    assert home_of(process(HOME="/home/dev")) == "/home/dev/.codex"
    assert home_of(process(HOME="/home/dev", CODEX_HOME="/data/codex")) == "/data/codex"
    assert home_of(process()) == ""


def test_it_works_where_it_was_told_to():
    assert workplace_of(process(BINARY)) == "/src"
    assert workplace_of(process(BINARY, "-C", "../lib")) == "/lib"
    assert workplace_of(process(BINARY, "--cd=/data")) == "/data"
    assert workplace_of(process(BINARY, cwd="")) == ""


def test_only_resume_with_an_id_proves_a_thread():
    assert resumed_by(process(BINARY, "resume", THREAD)) == THREAD
    assert resumed_by(process(BINARY, "--search", "resume", THREAD, "go on")) == THREAD
    assert resumed_by(process(BINARY, "resume", "--last")) == ""
    assert resumed_by(process(BINARY, "resume", "my-session")) == ""
    assert resumed_by(process(BINARY, "fork", THREAD)) == ""
    assert resumed_by(process(BINARY, THREAD)) == ""


def test_one_that_was_told_to_stay_apart_does_not_share():
    assert uses_shared_server(process(BINARY))
    assert uses_shared_server(process(BINARY, "--disable", "shell_snapshot"))
    for words in (("--no-daemon",), ("--disable", "daemon_auto_start"), ("--remote", "unix:///x"), ("exec", "hi")):
        assert not uses_shared_server(process(BINARY, *words))


def test_a_prompt_is_no_sub_command():
    assert call_of(process(BINARY, "resume the work")).verb == ""
    assert call_of(process(BINARY, "resume", "x")).words == ("x",)
