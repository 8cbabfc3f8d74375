"""`visor up` without a terminal, and with the demo."""

import os
import sys
from subprocess import DEVNULL, Popen

from termvisor.frontends.demo import server
from termvisor.settings import Paths, Settings
from tests.unit.fake_daemon import build_environment, make_private_paths, run_visor


def test_without_a_terminal_it_lists_panes_once_and_running_processes(daemon: Paths) -> None:
    status, out, errors = run_visor(daemon, "up")
    lines = out.splitlines()
    assert (status, errors) == (0, "")
    assert lines[0].startswith("daemon 41.0 MB")
    assert "window-3" in out
    assert "\x1b" not in out
    assert lines[-1].startswith("Still running: daemon (pid ")
    assert lines[-1].endswith("Stop with `visor down`.")


def test_without_stdin_terminal_it_lists_panes_once(daemon: Paths) -> None:
    main, side = os.openpty()
    argv = [sys.executable, "-m", "termvisor", "up"]
    with Popen(argv, env=build_environment(daemon), stdin=DEVNULL, stdout=side, stderr=side) as process:
        os.close(side)
        shown = os.read(main, 65536)
        assert process.wait(30) == 0
    assert b"\x1b[?1049h" not in shown
    os.close(main)


def test_an_invalid_interval_is_an_error(daemon: Paths) -> None:
    status, out, errors = run_visor(daemon, "up", "--interval", "0")
    assert (status, out) == (2, "")
    assert errors.startswith("visor: --interval:")


def test_the_way_of_a_newcomer_from_nothing_to_a_demo_and_back(folder: str) -> None:
    places = make_private_paths(folder)
    nowhere = {"VISOR_TMUX_SOCKETS": f"{folder}/none"}
    try:
        status, out, errors = run_visor(places, "up", "--demo-if-empty", **nowhere)
        assert (status, errors) == (0, "")
        assert all(f":{name} " in out for name in ("claude", "codex", "build", "log", "shell", "top"))
        assert "demo tmux server" in out.splitlines()[-1]
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


def test_when_nothing_has_panes_it_says_so_and_offers_the_demo(folder: str) -> None:
    places = make_private_paths(folder)
    nowhere = {"VISOR_TMUX_SOCKETS": f"{folder}/none"}
    try:
        status, out, _ = run_visor(places, "up", **nowhere)
        assert status == 0
        assert "`visor demo`" in out
    finally:
        run_visor(places, "down", **nowhere)
