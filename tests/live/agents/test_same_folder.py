"""Several agents in one folder: only unambiguous signals are attributed, and ambiguity is reported."""

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
TOKENS_PER_ANSWER = 1525
"""Tokens of one answer."""


@pytest.fixture(scope="module")
def multi_scene() -> Iterator[MultiAgentScene]:
    with open_multi_agent_scene() as found:
        yield found


def find_server_health(multi_scene: MultiAgentScene, folders: AgentFolders) -> dict:
    """How the server of this home is doing."""
    listed = call_robot(multi_scene.scene.visor, "list-sources", "--agent", "codex")["items"]
    found = [item for item in listed if item["source"] == "app_server" and str(folders.home) in item["where"]]
    return next(iter(found), {"status": "", "detail": ""})


def test_two_claude_code_and_one_codex_in_one_folder_are_distinguished(multi_scene):
    folders = multi_scene.prepare_folders("both", CLAUDE)
    CODEX.prepare(folders)
    waiting_claude, idle_claude = multi_scene.start(CLAUDE, folders), multi_scene.start(CLAUDE, folders)
    codex = multi_scene.start(CODEX, folders)
    for pane in (waiting_claude, idle_claude, codex):
        pane.wait_for_state("idle", seconds=60)
    waiting_claude.send_prompt("MODEL shell touch made")
    assert waiting_claude.wait_for_state("waiting_approval")["evidence_mode"] == "deterministic"
    assert [pane.pane_row["state"] for pane in (idle_claude, codex)] == ["idle", "idle"]
    assert [pane.pane_row["agent"] for pane in (waiting_claude, idle_claude, codex)] == [
        "claude_code",
        "claude_code",
        "codex",
    ]
    assert not any(pane.pane_row["flags"]["ambiguous"] for pane in (waiting_claude, idle_claude, codex))
    codex.send_prompt("MODEL slow 3")
    codex.wait_for_state("running")
    assert [pane.pane_row["state"] for pane in (waiting_claude, idle_claude)] == ["waiting_approval", "idle"]


def test_a_codex_outside_captured_panes_is_not_attributed_to_the_pane(multi_scene):
    """Both share home, folder and server, and only one has a captured pane."""
    folders = multi_scene.prepare_folders("codex", CODEX)
    pane = multi_scene.start(CODEX, folders)
    pane.wait_for_state("idle", seconds=60)
    pane.send_prompt("MODEL text hello")
    wait_until(lambda: find_server_health(multi_scene, folders)["status"] == "well", timeout_s=30)
    wait_until(lambda: pane.pane_row["tokens"] == TOKENS_PER_ANSWER)
    with make_short_folder() as folder, run_private_tmux(folder) as outside_tmux:
        outside_pane = ShellPane(
            WatchedTmux(outside_tmux, multi_scene.scene.visor),
            outside_tmux.start_session("x", "bash --norc", width=110, height=36),
        )
        outside_pane.type(build_shell_command(CODEX, folders))
        outside_pane.wait_for_text("Ask Codex")
        pane.wait_for_state(*AT_REST)
        outside_pane.send_prompt("MODEL slow 6")
        states: list[str] = []
        wait_until(lambda: states.append(pane.pane_row["state"]) or "thinking" in outside_pane.screen)
        wait_until(lambda: states.append(pane.pane_row["state"]) or len(states) > 30)
        assert set(states) <= set(AT_REST)
        assert "the owner of its threads is ambiguous" in wait_until(
            lambda: find_server_health(multi_scene, folders)["detail"], timeout_s=30
        )
        assert "processes worked in" in wait_until(lambda: " ".join(pane.explanation["doubts"]), timeout_s=15)
        assert pane.pane_row["flags"]["ambiguous"]
        assert pane.pane_row["tokens"] == TOKENS_PER_ANSWER
        assert ", ambiguous" in multi_scene.scene.visor.run_checked("panes")
    pane.send_prompt("MODEL slow 4")
    assert pane.wait_for_state("running")["evidence_mode"] == "deterministic"
    wait_until(lambda: pane.pane_row["tokens"] == 2 * TOKENS_PER_ANSWER)
