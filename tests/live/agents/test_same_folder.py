"""Several agents in one folder: each is known by what proves it, and what proves nothing is left out and said so."""

from collections.abc import Iterator

import pytest

from termvisor.testing.private_tmux import make_short_folder, run_private_tmux
from tests.live.agents.agent_programs import CLAUDE, CODEX, AgentFolders
from tests.live.agents.multi_agent_scene import MultiAgentScene, ShellPane, build_shell_command, open_multi_agent_scene
from tests.live.conftest import WatchedTmux
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot

pytestmark = pytest.mark.live

AT_REST = ("idle", "completed")
USED = 1525
"""Tokens of one answer."""


@pytest.fixture(scope="module")
def one() -> Iterator[MultiAgentScene]:
    with open_multi_agent_scene() as found:
        yield found


def app_server(one: MultiAgentScene, place: AgentFolders) -> dict:
    """How the server of this home is doing."""
    listed = call_robot(one.scene.visor, "list-sources", "--agent", "codex")["items"]
    found = [item for item in listed if item["source"] == "app_server" and str(place.home) in item["where"]]
    return next(iter(found), {"status": "", "detail": ""})


def test_two_of_claude_and_one_of_codex(one):
    place = one.prepare_folders("both", CLAUDE)
    CODEX.prepare(place)
    asking, resting = one.start(CLAUDE, place), one.start(CLAUDE, place)
    other = one.start(CODEX, place)
    for seat in (asking, resting, other):
        seat.wait_for_state("idle", seconds=60)
    asking.send_prompt("MODEL shell touch made")
    assert asking.wait_for_state("waiting_approval")["evidence_mode"] == "deterministic"
    assert [seat.pane_row["state"] for seat in (resting, other)] == ["idle", "idle"]
    assert [seat.pane_row["agent"] for seat in (asking, resting, other)] == ["claude_code", "claude_code", "codex"]
    assert not any(seat.pane_row["flags"]["ambiguous"] for seat in (asking, resting, other))
    other.send_prompt("MODEL slow 3")
    other.wait_for_state("running")
    assert [seat.pane_row["state"] for seat in (asking, resting)] == ["waiting_approval", "idle"]


def test_a_codex_that_nobody_watches_is_not_taken_for_the_one_in_the_pane(one):
    """They have one home, one folder and one server, and only one of them has a pane."""
    place = one.prepare_folders("codex", CODEX)
    seat = one.start(CODEX, place)
    seat.wait_for_state("idle", seconds=60)
    seat.send_prompt("MODEL text hello")
    wait_until(lambda: app_server(one, place)["status"] == "well", timeout_s=30)
    wait_until(lambda: seat.pane_row["tokens"] == USED)
    with make_short_folder() as folder, run_private_tmux(folder) as unwatched:
        stranger = ShellPane(
            WatchedTmux(unwatched, one.scene.visor), unwatched.start_session("x", "bash --norc", width=110, height=36)
        )
        stranger.type(build_shell_command(CODEX, place))
        stranger.wait_for_text("Ask Codex")
        seat.wait_for_state(*AT_REST)
        stranger.send_prompt("MODEL slow 6")
        states: list[str] = []
        wait_until(lambda: states.append(seat.pane_row["state"]) or "thinking" in stranger.screen)
        wait_until(lambda: states.append(seat.pane_row["state"]) or len(states) > 30)
        assert set(states) <= set(AT_REST)
        assert "the owner of its threads is ambiguous" in wait_until(
            lambda: app_server(one, place)["detail"], timeout_s=30
        )
        assert "processes worked in" in wait_until(lambda: " ".join(seat.explanation["doubts"]), timeout_s=15)
        assert seat.pane_row["flags"]["ambiguous"]
        assert seat.pane_row["tokens"] == USED
        assert ", ambiguous" in one.scene.visor.run_checked("panes")
    seat.send_prompt("MODEL slow 4")
    assert seat.wait_for_state("running")["evidence_mode"] == "deterministic"
    wait_until(lambda: seat.pane_row["tokens"] == 2 * USED)
