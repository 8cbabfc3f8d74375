"""Agents that a pane only shows: over ssh, in another tmux. None is taken for a process on this side."""

from collections.abc import Iterator

import pytest

from tests.live.agents.agent_programs import CLAUDE
from tests.live.agents.multi_agent_scene import MultiAgentScene, ShellPane, build_shell_command, open_multi_agent_scene
from tests.live.polling import wait_until
from tests.live.sshd import REMOTE_PROMPT, run_sshd

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def one() -> Iterator[MultiAgentScene]:
    with open_multi_agent_scene() as found:
        yield found


def test_an_agent_behind_ssh_is_not_the_one_in_the_same_folder_here(one, tmp_path):
    """Both have one home and one folder, for the other side is this machine: the registry knows both."""
    place = one.prepare_folders("ssh", CLAUDE)
    with run_sshd(tmp_path / "sshd") as server:
        here, there = one.start(CLAUDE, place), one.open_pane()
        there.type(server.shell_command)
        there.wait_for_text(REMOTE_PROMPT)
        there.type(build_shell_command(CLAUDE, place))
        near = here.wait_for_state("idle", seconds=60)
        far = there.wait_for_state("idle", seconds=60)
        assert (near["agent"], near["evidence_mode"]) == ("claude_code", "deterministic")
        assert (far["agent"], far["evidence_mode"], far["confidence"]) == ("claude_code", "heuristic", "medium")
        assert there.began_events[0]["pid"] == 0
        assert "runs remotely" in there.explanation["doubts"][0]

        there.send_prompt("MODEL slow 6")
        there.wait_for_state("running")
        assert here.pane_row["state"] == "idle", "what the far one does is not the near one's"
        there.wait_for_state("idle", "completed")
        here.send_prompt("MODEL shell touch asked-here")
        assert here.wait_for_state("waiting_approval")["evidence_mode"] == "deterministic"
        assert there.pane_row["state"] in ("idle", "completed")
        there.press("C-c")
        there.press("C-c")
        there.type("exit")
        wait_until(lambda: there.pane_row["agent"] is None)
        assert here.pane_row["agent"] == "claude_code"


def test_an_agent_in_an_inner_tmux_belongs_to_the_inner_pane(one):
    place = one.prepare_folders("nested", CLAUDE)
    inner = one.inner_scene
    mux_id = inner.tmux.start_session("in", "bash --norc", width=100, height=34)
    inner.tmux("set", "-g", "status", "off")  # so that both panes show the very same
    outer = one.open_pane()
    outer.type(f"TMUX= tmux -S {inner.tmux.socket} attach -t in")
    wait_until(lambda: outer.pane_row.get("command") == "tmux")
    seat = ShellPane(inner, mux_id)
    seat.type(build_shell_command(CLAUDE, place))
    assert seat.wait_for_state("idle", seconds=60)["evidence_mode"] == "deterministic"
    seat.send_prompt("MODEL slow 6")
    seat.wait_for_state("running")
    seat.wait_for_state("idle", "completed")
    assert "MODEL slow 6" in outer.screen
    assert outer.pane_row["command"] == "tmux"
    assert outer.pane_row["agent"] is None
    assert outer.began_events == []
