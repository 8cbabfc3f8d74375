"""Several agents in one folder: each is known by what proves it, and what proves nothing is left out and said so."""

from collections.abc import Iterator

import pytest

from termvisor.testing.tmux import private_tmux, short_folder
from tests.live.agents.lab import CLAUDE, CODEX, Workplace
from tests.live.agents.room import Room, Seat, command, room
from tests.live.conftest import Scene
from tests.live.looking import look
from tests.live.waiting import until

pytestmark = pytest.mark.live

AT_REST = ("idle", "completed")
USED = 1525
"""Tokens of one answer."""


@pytest.fixture(scope="module")
def one() -> Iterator[Room]:
    with room() as found:
        yield found


def app_server(one: Room, place: Workplace) -> dict:
    """How the server of this home is doing."""
    listed = look(one.scene.visor, "list-sources", "--agent", "codex")["items"]
    found = [item for item in listed if item["source"] == "app_server" and str(place.home) in item["where"]]
    return next(iter(found), {"status": "", "detail": ""})


def test_two_of_claude_and_one_of_codex(one):
    place = one.place("both", CLAUDE)
    CODEX.settle(place)
    asking, resting = one.start(CLAUDE, place), one.start(CLAUDE, place)
    other = one.start(CODEX, place)
    for seat in (asking, resting, other):
        seat.becomes("idle", seconds=60)
    asking.prompt("MODEL shell touch made")
    assert asking.becomes("waiting_approval")["evidence_mode"] == "deterministic"
    assert [seat.row["state"] for seat in (resting, other)] == ["idle", "idle"]
    assert [seat.row["agent"] for seat in (asking, resting, other)] == ["claude_code", "claude_code", "codex"]
    assert not any(seat.row["flags"]["ambiguous"] for seat in (asking, resting, other))
    other.prompt("MODEL slow 3")
    other.becomes("running")
    assert [seat.row["state"] for seat in (asking, resting)] == ["waiting_approval", "idle"]


def test_a_codex_that_nobody_watches_is_not_taken_for_the_one_in_the_pane(one):
    """They have one home, one folder and one server, and only one of them has a pane."""
    place = one.place("codex", CODEX)
    seat = one.start(CODEX, place)
    seat.becomes("idle", seconds=60)
    seat.prompt("MODEL text hello")
    until(lambda: app_server(one, place)["status"] == "well", seconds=30)
    until(lambda: seat.row["tokens"] == USED)
    with short_folder() as folder, private_tmux(folder) as unwatched:
        stranger = Seat(Scene(unwatched, one.scene.visor), unwatched.start("x", "bash --norc", width=110, height=36))
        stranger.type(command(CODEX, place))
        stranger.shows("Ask Codex")
        seat.becomes(*AT_REST)
        stranger.prompt("MODEL slow 6")
        states: list[str] = []
        until(lambda: states.append(seat.row["state"]) or "thinking" in stranger.screen)
        until(lambda: states.append(seat.row["state"]) or len(states) > 30)
        assert set(states) <= set(AT_REST)
        assert "whose they are is not proven" in until(lambda: app_server(one, place)["detail"], seconds=30)
        assert "more than one of it worked in" in until(lambda: " ".join(seat.explained["doubts"]), seconds=15)
        assert seat.row["flags"]["ambiguous"]
        assert seat.row["tokens"] == USED
        assert ", ambiguous" in one.scene.visor.visor("panes")
    seat.prompt("MODEL slow 4")
    assert seat.becomes("running")["evidence_mode"] == "deterministic"
    until(lambda: seat.row["tokens"] == 2 * USED)
