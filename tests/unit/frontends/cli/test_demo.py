"""`visor demo`."""

import shutil

from termvisor.frontends.demo import server
from termvisor.settings import Settings
from tests.unit.memory import private_places, visor


def test_it_starts_says_how_to_go_on_and_stops(folder: str) -> None:
    places = private_places(folder)
    try:
        status, out, errors = visor(places, "demo")
        assert (status, errors) == (0, "")
        assert out.startswith("The demo is running: six panes")
        assert server.attach_command(places, Settings()) in out
        assert visor(places, "demo", "start")[1].startswith("The demo was running already")
    finally:
        stopped = visor(places, "demo", "stop")
    assert stopped == (0, "Stopped the demo.\n", "")
    assert visor(places, "demo", "stop") == (0, "No demo was running.\n", "")


def test_without_tmux_it_says_how_to_get_it(folder: str) -> None:
    status, out, errors = visor(private_places(folder), "demo", VISOR_TMUX_PROGRAM="no-such-tmux")
    assert shutil.which("no-such-tmux") is None
    assert (status, out) == (69, "")
    assert "install tmux" in errors
