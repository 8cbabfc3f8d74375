"""`visor demo`."""

import shutil

from termvisor.frontends.demo import server
from termvisor.settings import Settings
from tests.unit.fake_daemon import make_private_paths, run_visor


def test_it_starts_says_how_to_go_on_and_stops(folder: str) -> None:
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


def test_without_tmux_it_says_how_to_get_it(folder: str) -> None:
    status, out, errors = run_visor(make_private_paths(folder), "demo", VISOR_TMUX_PROGRAM="no-such-tmux")
    assert shutil.which("no-such-tmux") is None
    assert (status, out) == (69, "")
    assert "install tmux" in errors
