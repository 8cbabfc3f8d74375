"""The version of a running program is read from the files around it: layouts of real installations, as small trees."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from termvisor.agents.adapters import claude_code, codex, copilot, gemini, opencode
from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.sources import program_version
from termvisor.agents.sources.program_version import ProgramVersionFinder
from termvisor.system import procfs
from tests.live.polling import wait_until

Starter = Callable[..., ProcessInfo]


@pytest.fixture
def start() -> Iterator[Starter]:
    """Start a program and describe its process as the process scanner does."""
    running: list[subprocess.Popen[bytes]] = []

    def run(*argv: str, cwd: str = "/", env: dict[str, str] | None = None, program: str = "") -> ProcessInfo:
        child = subprocess.Popen(argv, executable=program or None, cwd=cwd, env=env or {}, stdin=subprocess.PIPE)
        running.append(child)
        # The kernel closes the descriptor that Popen waits for before it sets the arguments and the environment.
        wait_until(Path(f"/proc/{child.pid}/cmdline").read_bytes)
        return ProcessInfo(pid=child.pid, pid_started=procfs.read_start_time(child.pid), argv=argv, cwd=cwd)

    yield run
    for child in running:
        child.kill()
        child.wait()
        child.stdin.close()


def put_program(path: Path) -> str:
    """Put a program there that waits for input; as a runtime, it runs the script in its first argument."""
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(shutil.which("dash") or "/bin/sh", path)
    return str(path)


def put_script(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("read line\n")
    return str(path)


def put_package(folder: Path, name: object, version: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text(json.dumps({"name": name, "version": version, "bin": {}}))
    return folder / "package.json"


def find(process: ProcessInfo, names: tuple[str, ...], finder: ProgramVersionFinder | None = None) -> str:
    return (finder or ProgramVersionFinder()).find_version(process, names, time.time_ns())


NATIVE_LAYOUTS = [
    (claude_code, "@anthropic-ai/claude-code-linux-x64", "claude", "@anthropic-ai/claude-code-linux-x64", "2.1.327"),
    (codex, "@openai/codex", "vendor/x86_64-unknown-linux-musl/codex/codex", "@openai/codex", "0.77.0"),
    (
        codex,
        "@openai/codex-linux-x64",
        "vendor/x86_64-unknown-linux-musl/bin/codex",
        "@openai/codex",
        "0.142.5-linux-x64",
    ),
    (copilot, "@github/copilot-linux-x64", "copilot", "@github/copilot-linux-x64", "1.0.39"),
    (opencode, "opencode-linux-x64", "bin/opencode", "opencode-linux-x64", "1.1.31"),
    (opencode, "opencode-linux-x64-baseline-musl", "bin/opencode", "opencode-linux-x64-baseline-musl", "1.2.11"),
]


@pytest.mark.parametrize(("agent", "folder", "program", "name", "version"), NATIVE_LAYOUTS)
def test_a_native_program_has_the_version_of_its_package(tmp_path, start, agent, folder, program, name, version):
    package = tmp_path / "node_modules" / folder
    put_package(package, name, version)
    process = start(put_program(package / program))
    assert find(process, agent.ADAPTER.package_names) == version.removesuffix("-linux-x64")


SCRIPT_LAYOUTS = [
    (gemini, "@google/gemini-cli", "dist/index.js", "0.33.0"),
    (gemini, "@google/gemini-cli", "bundle/gemini.js", "0.43.0"),
    (copilot, "@github/copilot", "index.js", "0.0.384"),
    (codex, "@openai/codex", "bin/codex.js", "0.98.0"),
]


@pytest.mark.parametrize(("agent", "name", "script", "version"), SCRIPT_LAYOUTS)
def test_a_script_has_the_version_of_its_package(tmp_path, start, agent, name, script, version):
    package = tmp_path / "lib/node_modules" / name
    put_package(package, name, version)
    put_script(package / script)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/agent").symlink_to(package / script)
    node, names = put_program(tmp_path / "node"), agent.ADAPTER.package_names
    assert find(start(node, "-e", str(package / script)), names) == version
    assert find(start(node, str(tmp_path / "bin/agent")), names) == version, "the link that npm puts into bin"
    assert find(start(node, "bin/agent", cwd=str(tmp_path)), names) == version


def test_the_version_of_the_runtime_is_not_that_of_the_script(tmp_path, start):
    node = put_program(tmp_path / "Cellar/node/22.1.0/bin/node")
    put_package(tmp_path / "Cellar/node/22.1.0", "@google/gemini-cli", "22.1.0")
    assert find(start(node, put_script(tmp_path / "own/gemini")), gemini.ADAPTER.package_names) == ""


def test_a_script_that_replaced_its_command_line_is_found_by_its_shell(tmp_path, start):
    """Claude Code for node shows the title `claude` in place of its command line."""
    package = tmp_path / "node_modules/@anthropic-ai/claude-code"
    put_package(package, "@anthropic-ai/claude-code", "2.0.76")
    script, names = put_script(package / "cli.js"), claude_code.ADAPTER.package_names
    node = put_program(tmp_path / "node")
    assert find(start("claude", program=node, env={"_": script}), names) == "2.0.76"
    assert find(start("claude", program=node, env={"_": "/usr/bin/env"}), names) == ""
    assert find(start("claude", program=node), names) == ""


@pytest.mark.parametrize(
    ("path", "version"),
    [
        ("share/claude/versions/2.1.325", "2.1.325"),
        ("share/cursor-agent/versions/2025.09.18-7ae6800/cursor-agent", "2025.09.18-7ae6800"),
        ("Cellar/codex/0.98.0/bin/codex", "0.98.0"),
        ("Cellar/codex/0.98.0_1/bin/codex", "0.98.0"),
        ("Caskroom/codex/0.98.0/codex-x86_64", "0.98.0"),
        ("share/claude/versions/latest", ""),
        ("versions/1.2.3/lib/other/codex", ""),
        (".opencode/bin/opencode", ""),
    ],
)
def test_an_installer_may_put_the_version_into_the_path(tmp_path, start, path, version):
    assert find(start(put_program(tmp_path / path)), ("@openai/codex",)) == version


def test_a_python_program_has_the_version_of_its_distribution(tmp_path, start):
    environment = tmp_path / "venvs/some-agent"
    for name in ("other-9.9.dist-info", "Some_Agent-0.86.1.dist-info", "some_agent_extra-7.0.dist-info"):
        (environment / "lib/python3.12/site-packages" / name).mkdir(parents=True)
    python, script = put_program(environment / "bin/python3.12"), put_script(environment / "bin/some")
    process = start(python, script)
    assert find(process, ("some-agent",)) == "0.86.1"
    assert find(process, ("another",)) == ""
    assert ProgramVersionFinder().find_version(process, ("some-agent",), 0) == "", "installed after the start"


@pytest.mark.parametrize("version", ["1.0\x1b[31m", "1.0\n2", "", "latest", None, 7, "1" * 300, "1.0.0-" + "x" * 99])
def test_a_version_of_another_form_is_not_taken(tmp_path, start, version):
    package = tmp_path / "node_modules/@github/copilot"
    put_package(package, "@github/copilot", version)
    assert find(start(put_program(package / "copilot")), ("@github/copilot",)) == ""


def _remove(path: Path) -> None:
    path.unlink()


def _make_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _make_link(path: Path) -> None:
    path.rename(path.with_name("elsewhere.json"))
    path.symlink_to("elsewhere.json")


@pytest.mark.parametrize(
    "spoil",
    [
        _remove,
        _make_pipe,
        _make_link,
        lambda path: path.write_bytes(b"\xff{"),
        lambda path: path.write_text("[" * 60_000),
        lambda path: path.write_text(path.read_text() + " " * 70_000),
        lambda path: put_package(path.parent, "@github/copilot-language-server", "1.0.39"),
        lambda path: put_package(path.parent, "my-project", "1.0.39"),
    ],
)
def test_a_file_that_is_not_the_packages_is_ignored(tmp_path, start, spoil):
    package = tmp_path / "node_modules/@github/copilot"
    spoil(put_package(package, "@github/copilot", "1.0.39"))
    put_package(tmp_path, "@github/copilot", "6.6.6")
    process = start(put_program(package / "copilot"))
    assert find(process, ("@github/copilot",)) == "", "and nothing above node_modules is read"


def test_files_that_an_update_replaced_prove_nothing(tmp_path, start):
    package = tmp_path / "node_modules/@github/copilot"
    put_package(package, "@github/copilot", "1.0.39")
    program = put_program(package / "copilot")
    process, started_at = start(program), time.time_ns()
    finder = ProgramVersionFinder()
    assert finder.find_version(process, ("@github/copilot",), started_at) == "1.0.39"
    assert finder.find_version(process, ("@github/copilot",), started_at - 10**12) == "", "written after the start"
    os.unlink(program)
    assert finder.find_version(process, ("@github/copilot",), started_at) == "", "its program was replaced"


def test_a_deleted_program_still_has_the_version_in_its_path(tmp_path, start):
    program = put_program(tmp_path / "versions/2.1.325")
    process = start(program)
    os.unlink(program)
    assert find(process, ()) == "2.1.325"


def test_an_unchanged_file_is_parsed_once(tmp_path, start, monkeypatch):
    package = tmp_path / "node_modules/@github/copilot"
    put_package(package, "@github/copilot", "1.0.39")
    process, finder, parsed = start(put_program(package / "copilot")), ProgramVersionFinder(), []
    parse = program_version._parse_package
    monkeypatch.setattr(program_version, "_parse_package", lambda data: parsed.append(data) or parse(data))
    assert [find(process, ("@github/copilot",), finder) for _ in range(3)] == ["1.0.39"] * 3
    assert len(parsed) == 1
    put_package(package, "@github/copilot", "1.0.40")
    assert find(process, ("@github/copilot",), finder) == "1.0.40"


def test_a_process_that_was_replaced_has_no_version(tmp_path, start):
    program = put_program(tmp_path / "versions/2.1.325")
    process = start(program)
    other = ProcessInfo(pid=process.pid, pid_started=process.pid_started - 1, argv=process.argv)
    assert find(other, ()) == ""
