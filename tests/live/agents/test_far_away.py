"""Agents that a pane only shows: over ssh, in another tmux. None is taken for a process on this side."""

from collections.abc import Iterator

import pytest

from tests.live.agents.lab import CLAUDE
from tests.live.agents.room import Room, Seat, command, room
from tests.live.sshd import FAR, sshd
from tests.live.waiting import until

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def one() -> Iterator[Room]:
    with room() as found:
        yield found


def test_an_agent_behind_ssh_is_not_the_one_in_the_same_folder_here(one, tmp_path):
    """Both have one home and one folder, for the other side is this machine: the registry knows both."""
    place = one.place("ssh", CLAUDE)
    with sshd(tmp_path / "sshd") as server:
        here, there = one.start(CLAUDE, place), one.seat()
        there.type(server.shell)
        there.shows(FAR)
        there.type(command(CLAUDE, place))
        near = here.becomes("idle", seconds=60)
        far = there.becomes("idle", seconds=60)
        assert (near["agent"], near["evidence_mode"]) == ("claude_code", "deterministic")
        assert (far["agent"], far["evidence_mode"], far["confidence"]) == ("claude_code", "heuristic", "medium")
        assert there.began[0]["pid"] == 0
        assert "on the other side" in there.explained["doubts"][0]

        there.prompt("MODEL slow 6")
        there.becomes("running")
        assert here.row["state"] == "idle", "what the far one does is not the near one's"
        there.becomes("idle", "completed")
        here.prompt("MODEL shell touch asked-here")
        assert here.becomes("waiting_approval")["evidence_mode"] == "deterministic"
        assert there.row["state"] in ("idle", "completed")
        there.press("C-c")
        there.press("C-c")
        there.type("exit")
        until(lambda: there.row["agent"] is None)
        assert here.row["agent"] == "claude_code"


def test_an_agent_in_an_inner_tmux_belongs_to_the_inner_pane(one):
    place = one.place("nested", CLAUDE)
    inner = one.inner
    mux_id = inner.tmux.start("in", "bash --norc", width=100, height=34)
    inner.tmux("set", "-g", "status", "off")  # so that both panes show the very same
    outer = one.seat()
    outer.type(f"TMUX= tmux -S {inner.tmux.socket} attach -t in")
    until(lambda: outer.row.get("command") == "tmux")
    seat = Seat(inner, mux_id)
    seat.type(command(CLAUDE, place))
    assert seat.becomes("idle", seconds=60)["evidence_mode"] == "deterministic"
    seat.prompt("MODEL slow 6")
    seat.becomes("running")
    seat.becomes("idle", "completed")
    assert "MODEL slow 6" in outer.screen
    assert outer.row["command"] == "tmux"
    assert outer.row["agent"] is None
    assert outer.began == []
