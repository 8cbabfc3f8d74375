import pytest

from termvisor.errors import BadRequest
from termvisor.frontends.cli.attach import chosen
from termvisor.ops.panes.attach import Attached

THERE = Attached(status="done", socket="/run/tmux/default", outside=("tmux", "out"), inside=("tmux", "in"))


def test_outside_of_tmux_it_attaches_and_inside_the_same_server_it_switches() -> None:
    assert chosen(THERE, "") == ("tmux", "out")
    assert chosen(THERE, "/run/tmux/default,42,0") == ("tmux", "in")


def test_inside_of_another_server_it_says_why_not() -> None:
    with pytest.raises(BadRequest, match="does not nest"):
        chosen(THERE, "/run/tmux/other,42,0")
