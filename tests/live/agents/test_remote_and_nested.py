"""Agents over ssh and in a nested tmux: they are not attributed to a local process or the outer pane."""

from collections.abc import Iterator

import pytest

from tests.live.agents.agent_programs import CLAUDE
from tests.live.agents.multi_agent_scene import MultiAgentScene, ShellPane, build_shell_command, open_multi_agent_scene
from tests.live.polling import wait_until
from tests.live.sshd import REMOTE_PROMPT, run_sshd

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def multi_scene() -> Iterator[MultiAgentScene]:
    with open_multi_agent_scene() as found:
        yield found


def test_an_agent_over_ssh_is_distinct_from_a_local_agent_in_the_same_folder(multi_scene, tmp_path):
    """Both use the same home and folder, because the remote host is this machine; the registry lists both."""
    folders = multi_scene.prepare_folders("ssh", CLAUDE)
    with run_sshd(tmp_path / "sshd") as server:
        local_pane, remote_pane = multi_scene.start(CLAUDE, folders), multi_scene.open_pane()
        remote_pane.type(server.shell_command)
        remote_pane.wait_for_text(REMOTE_PROMPT)
        remote_pane.type(build_shell_command(CLAUDE, folders))
        local_row = local_pane.wait_for_state("idle", seconds=60)
        remote_row = remote_pane.wait_for_state("idle", seconds=60)
        assert (local_row["agent"], local_row["evidence_mode"]) == ("claude_code", "deterministic")
        assert (remote_row["agent"], remote_row["evidence_mode"], remote_row["confidence"]) == (
            "claude_code",
            "heuristic",
            "medium",
        )
        assert remote_pane.began_events[0]["pid"] == 0
        assert "runs remotely" in remote_pane.explanation["doubts"][0]

        remote_pane.send_prompt("MODEL slow 6")
        remote_pane.wait_for_state("running")
        assert local_pane.pane_row["state"] == "idle", "the remote agent's turn must not change the local state"
        remote_pane.wait_for_state("idle", "completed")
        local_pane.send_prompt("MODEL shell touch asked-here")
        assert local_pane.wait_for_state("waiting_approval")["evidence_mode"] == "deterministic"
        assert remote_pane.pane_row["state"] in ("idle", "completed")
        remote_pane.press("C-c")
        remote_pane.press("C-c")
        remote_pane.type("exit")
        wait_until(lambda: remote_pane.pane_row["agent"] is None)
        assert local_pane.pane_row["agent"] == "claude_code"


def test_an_agent_in_an_inner_tmux_belongs_to_the_inner_pane(multi_scene):
    folders = multi_scene.prepare_folders("nested", CLAUDE)
    inner = multi_scene.inner_scene
    mux_id = inner.tmux.start_session("in", "bash --norc", width=100, height=34)
    inner.tmux("set", "-g", "status", "off")  # so that both panes show the same screen
    outer_pane = multi_scene.open_pane()
    outer_pane.type(f"TMUX= tmux -S {inner.tmux.socket} attach -t in")
    wait_until(lambda: outer_pane.pane_row.get("command") == "tmux")
    inner_pane = ShellPane(inner, mux_id)
    inner_pane.type(build_shell_command(CLAUDE, folders))
    assert inner_pane.wait_for_state("idle", seconds=60)["evidence_mode"] == "deterministic"
    inner_pane.send_prompt("MODEL slow 6")
    inner_pane.wait_for_state("running")
    inner_pane.wait_for_state("idle", "completed")
    assert "MODEL slow 6" in outer_pane.screen
    assert outer_pane.pane_row["command"] == "tmux"
    assert outer_pane.pane_row["agent"] is None
    assert outer_pane.began_events == []
