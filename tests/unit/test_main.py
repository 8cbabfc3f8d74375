"""Entry point of the command `visor`."""

import os
import signal
import sys
import threading
from contextlib import suppress
from subprocess import PIPE, Popen

import msgspec
import pytest

from termvisor import __main__
from termvisor.settings import Paths
from termvisor.system.retry import wait_until
from termvisor.system.subprocesses import run_and_capture
from termvisor.testing.private_tmux import make_short_folder
from tests.unit.fake_daemon import build_environment, make_private_paths, run_fake_daemon, run_visor

HEAVY = {
    "json",
    "argparse",
    "re",
    "enum",
    "typing",
    "socket",
    "asyncio",
    "msgspec",
    "subprocess",
    "logging",
    "collections",
}


def test_a_robot_call_imports_no_heavy_modules() -> None:
    script = (
        "import sys; from termvisor.__main__ import main\n"
        "sys.argv = ['visor', 'robot', 'state']\n"
        "status = main()\n"
        "sys.stderr.write(' '.join(sys.modules))\n"
        "sys.exit(status)"
    )
    with make_short_folder() as folder, run_fake_daemon(folder) as places:
        status, out, imported = run_and_capture([sys.executable, "-c", script], env=build_environment(places))
    assert (status, HEAVY & set(imported.decode().split())) == (0, set())
    assert msgspec.json.decode(out)["data"]["summary"]["panes"] == 3


def test_a_hook_imports_no_heavy_modules_and_never_fails() -> None:
    script = (
        "import sys; from termvisor.__main__ import main\n"
        "sys.argv = ['visor', 'hook', 'permission', '--agent=claude_code']\n"
        "status = main()\n"
        "sys.stderr.write(' '.join(sys.modules))\n"
        "sys.exit(status)"
    )
    with make_short_folder() as folder, run_fake_daemon(folder) as places:
        status, out, imported = run_and_capture(
            [sys.executable, "-c", script], stdin=b"no request", env=build_environment(places)
        )
    assert (status, out, HEAVY & set(imported.decode().split())) == (0, b"", set())


def test_a_status_line_imports_no_heavy_modules_also_with_a_config_file() -> None:
    script = (
        "import sys; from termvisor.__main__ import main\n"
        "sys.argv = ['visor', 'tmux-status', '{waiting}']\n"
        "status = main()\n"
        "sys.stderr.write(' '.join(sys.modules))\n"
        "sys.exit(status)"
    )
    with make_short_folder() as folder, run_fake_daemon(folder) as places:
        os.makedirs(places.config_dir, exist_ok=True)
        with open(places.config_file, "w") as config:
            config.write('colour = "always"\n')
        status, out, imported = run_and_capture([sys.executable, "-c", script], env=build_environment(places))
    assert (status, out, HEAVY & set(imported.decode().split())) == (0, b"", set())


def test_a_status_line_starts_no_daemon() -> None:
    with make_short_folder() as folder:
        places = make_private_paths(folder)
        assert run_visor(places, "tmux-status", "{waiting}") == (0, "", "")
        assert not os.path.exists(places.daemon_socket)
        assert "usage: visor tmux-status" in run_visor(places, "tmux-status", "--help")[1]
        assert not os.path.exists(places.daemon_socket)


@pytest.mark.parametrize(
    ("argv", "is_played"),
    [
        (["attach", "7"], True),
        (["next", "--go"], True),
        (["next"], False),
        (["config", "edit"], True),
        (["config", "show"], False),
        (["next", "--go", "--json"], False),
        (["status"], False),
    ],
)
def test_interactive_views_run_in_a_terminal(argv: list[str], is_played: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "isatty", lambda _descriptor: True)
    assert __main__._is_interactive_view(argv) == is_played


def test_users_get_text_and_robots_json() -> None:
    with make_short_folder() as folder, run_fake_daemon(folder) as places:
        assert run_visor(places, "get-text", "2") == (0, "hello from 2\n", "")
        assert msgspec.json.decode(run_visor(places, "robot", "get-text", "2")[1])["data"]["text"] == "hello from 2"
        status, out, errors = run_visor(places, "get-text", "99")
        assert (status, out) == (4, "")
        assert errors.startswith("visor: ")
        status, out, errors = run_visor(places, "robot", "get-text", "99")
        assert (status, errors) == (4, "")
        assert msgspec.json.decode(out)["error"]["code"] == "pane_not_found"


def test_a_closed_output_pipe_ends_with_141_and_no_traceback() -> None:
    with make_short_folder() as folder, run_fake_daemon(folder, panes=400) as places:
        process = _start(places, "robot", "state", "--full")
        assert process.stdout is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.wait(30) == 141
        assert process.stderr is not None
        assert process.stderr.read() == b""
        process.stderr.close()


def test_ctrl_c_ends_with_130_and_without_a_traceback() -> None:
    with make_short_folder() as folder, run_fake_daemon(folder) as places:
        process = _start(places, "watch-events", "--since-cursor", "0")
        assert process.stdout is not None
        assert process.stderr is not None
        _wait_until_blocked(process.pid)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert process.stderr.read() == b""
        process.stdout.close()
        process.stderr.close()


def test_a_deleted_working_directory_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> str:
        raise FileNotFoundError

    monkeypatch.setattr(os, "getcwd", gone)
    assert __main__._build_request(["robot", "state"]).cwd == "/"


def test_arguments_after_robot_are_the_command_line() -> None:
    asked = __main__._build_request(["robot", "get-text", "7"])
    assert (asked.argv, asked.is_robot) == (("get-text", "7"), True)
    assert __main__._build_request(["get-text", "7"]).argv == ("get-text", "7")


def test_concurrent_calls_use_one_daemon() -> None:
    with make_short_folder() as folder:
        places = make_private_paths(folder)
        nowhere = {"VISOR_TMUX_SOCKETS": f"{folder}/none"}
        answers: list[int] = []
        threads = [
            threading.Thread(target=lambda: answers.append(run_visor(places, "robot", "state", **nowhere)[0]))
            for _ in range(6)
        ]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert answers == [0] * 6
        finally:
            run_visor(places, "down", **nowhere)


def _start(places: Paths, *words: str) -> "Popen[bytes]":
    return Popen([sys.executable, "-m", "termvisor", *words], env=build_environment(places), stdout=PIPE, stderr=PIPE)


def _wait_until_blocked(pid: int) -> None:
    """Wait until the process has connected to the daemon."""
    assert wait_until(lambda: any("socket:" in name for name in _open_files(pid)), 30.0)


def _open_files(pid: int) -> list[str]:
    with suppress(FileNotFoundError):
        return [os.readlink(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd")]
    return []
