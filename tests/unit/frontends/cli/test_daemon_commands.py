"""`visor up` without a terminal, and with the demo."""

import os
import shutil
import sys
from collections.abc import Iterator
from subprocess import DEVNULL, Popen

import pytest

from termvisor.client.daemon_process import fetch_hello, is_running
from termvisor.daemon.lifecycle import find_recorder_pid
from termvisor.frontends.demo import server
from termvisor.settings import Paths, Settings
from tests.pattern_cache import install_pattern_cache
from tests.unit.fake_daemon import build_environment, make_private_paths, run_visor


def test_up_without_a_terminal_lists_panes_once_and_running_processes(daemon: Paths) -> None:
    status, out, errors = run_visor(daemon, "up")
    lines = out.splitlines()
    assert (status, errors) == (0, "")
    assert lines[0].startswith("daemon 41.0 MB")
    assert "window-3" in out
    assert "\x1b" not in out
    assert lines[-1].startswith("Still running: daemon (pid ")
    assert lines[-1].endswith("Stop with `visor down`.")


def test_up_without_stdin_terminal_lists_panes_once(daemon: Paths) -> None:
    main, side = os.openpty()
    argv = [sys.executable, "-m", "termvisor", "up"]
    with Popen(argv, env=build_environment(daemon), stdin=DEVNULL, stdout=side, stderr=side) as process:
        os.close(side)
        shown = os.read(main, 65536)
        assert process.wait(30) == 0
    assert b"\x1b[?1049h" not in shown
    os.close(main)


def test_the_cockpit_needs_a_terminal(daemon: Paths) -> None:
    status, out, errors = run_visor(daemon, "tui")
    assert (status, out) == (2, "")
    assert errors.startswith("visor: the cockpit needs a terminal\nhint: `visor up` prints all panes once")


def test_up_with_demo_if_empty_starts_the_demo_and_down_stops_it(folder: str) -> None:
    places = make_private_paths(folder)
    nowhere = {"VISOR_TMUX_SOCKETS": f"{folder}/none"}
    try:
        status, out, errors = run_visor(places, "up", "--demo-if-empty", **nowhere, PATH="/usr/bin:/bin")
        # A slow start is reported there now and then.
        assert status == 0, errors
        assert [line for line in errors.splitlines() if not line.startswith("visor: the daemon is starting")] == []
        assert all(f":{name} " in out for name in ("claude", "codex", "build", "log", "shell", "top"))
        assert "demo tmux server" in out.splitlines()[-2]
        assert "`make install`" in out.splitlines()[-1]
        assert run_visor(places, "up", "--once", **nowhere)[0] == 0
    finally:
        status, out, _ = run_visor(places, "down", **nowhere)
    assert status == 0
    assert [line.split(" (")[0].rstrip(".") for line in out.splitlines()] == [
        "Stopped the demo",
        "Stopped the daemon",
        "Stopped the recorder",
    ]
    assert not server.stop_demo(places, Settings())
    assert run_visor(places, "down", **nowhere)[1] == "Nothing was running.\n"


def test_up_without_panes_suggests_the_demo(folder: str) -> None:
    places = make_private_paths(folder)
    install_pattern_cache(places)
    nowhere = {"VISOR_TMUX_SOCKETS": f"{folder}/none"}
    try:
        status, out, _ = run_visor(places, "up", **nowhere)
        assert status == 0
        assert "`visor demo`" in out
    finally:
        run_visor(places, "down", **nowhere)


def test_down_stops_the_daemon_and_a_second_down_succeeds(daemon: Paths) -> None:
    status, out, errors = run_visor(daemon, "down")
    assert (status, errors) == (0, "")
    assert out.startswith("Stopped the daemon (pid ")
    assert not is_running(daemon)
    assert run_visor(daemon, "down") == (0, "Nothing was running.\n", "")


def test_down_works_with_an_invalid_config(daemon: Paths) -> None:
    os.makedirs(daemon.config_dir)
    with open(daemon.config_file, "w") as file:
        file.write("nonsense")
    status, out, _ = run_visor(daemon, "down")
    assert status == 0
    assert out.startswith("Stopped the daemon")


def test_down_without_an_instance_creates_no_folders(folder: str) -> None:
    assert run_visor(make_private_paths(folder), "down") == (0, "Nothing was running.\n", "")
    assert os.listdir(folder) == []


@pytest.fixture
def places(folder: str) -> Iterator[Paths]:
    where = make_private_paths(folder)
    install_pattern_cache(where)
    yield where
    daemon(where, "down")


def daemon(places: Paths, *words: str) -> tuple[int, str, str]:
    return run_visor(places, *words, VISOR_TMUX_SOCKETS=f"{places.runtime_dir}/none")


def test_the_daemon_is_started_shown_and_stopped(places: Paths) -> None:
    assert daemon(places, "daemon", "status") == (3, "not running\n", "")
    status, out, _ = daemon(places, "daemon")
    hello = fetch_hello(places)
    assert hello is not None
    assert (status, f"pid {hello.pid}," in out) == (0, True)
    assert daemon(places, "daemon", "status")[:2] == (0, f"running, pid {hello.pid}, version {hello.version}\n")
    assert daemon(places, "daemon", "stop")[:2] == (0, f"Stopped the daemon (pid {hello.pid}).\n")
    assert daemon(places, "daemon", "stop")[:2] == (0, "No daemon was running.\n")


def test_a_restart_makes_a_new_daemon_and_keeps_the_recorder(places: Paths) -> None:
    daemon(places, "daemon", "start")
    before, recorder = fetch_hello(places), find_recorder_pid(places)
    assert daemon(places, "daemon", "restart")[0] == 0
    after = fetch_hello(places)
    assert before is not None
    assert after is not None
    assert after.pid != before.pid
    assert find_recorder_pid(places) == recorder


def test_a_second_daemon_in_the_foreground_is_rejected(places: Paths) -> None:
    daemon(places, "daemon", "start")
    status, _, errors = daemon(places, "daemon", "--foreground")
    assert status == 75
    assert errors.startswith("visor: conflict: a daemon is already running (pid ")


def test_an_unknown_action_is_an_error(places: Paths) -> None:
    status, _, errors = daemon(places, "daemon", "strat")
    assert status == 2
    assert errors.endswith("hint: See `visor daemon --help`.\n")


def test_the_demo_starts_with_a_hint_and_stops(folder: str) -> None:
    places = make_private_paths(folder)
    try:
        status, out, errors = run_visor(places, "demo")
        assert (status, errors) == (0, "")
        assert out.startswith("The demo is running: six panes")
        assert server.build_attach_command(places, Settings()) in out
        assert run_visor(places, "demo", "start")[1].startswith("The demo is already running")
    finally:
        stopped = run_visor(places, "demo", "stop")
    assert stopped == (0, "Stopped the demo.\n", "")
    assert run_visor(places, "demo", "stop") == (0, "No demo was running.\n", "")


def test_without_tmux_the_demo_says_how_to_install_it(folder: str) -> None:
    status, out, errors = run_visor(make_private_paths(folder), "demo", VISOR_TMUX_PROGRAM="no-such-tmux")
    assert shutil.which("no-such-tmux") is None
    assert (status, out) == (69, "")
    assert "install tmux" in errors
