"""Facts about the real Claude Code: tokens, version, transcript, identification and cast export."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.agents.agent_programs import CLAUDE
from tests.live.agents.multi_agent_scene import MultiAgentScene, ShellPane, open_multi_agent_scene
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot

pytestmark = pytest.mark.live

SUBAGENT = 'MODEL tool Agent {"description":"a","prompt":"\\u004dODEL text b","subagent_type":"general-purpose"}'
TOKENS_PER_ANSWER = 1520
"""Tokens of each answer of the scripted model: 1500 of input, 20 of output."""


@pytest.fixture(scope="module")
def multi_scene() -> Iterator[MultiAgentScene]:
    with open_multi_agent_scene() as found:
        yield found


@pytest.fixture(scope="module")
def pane(multi_scene: MultiAgentScene) -> ShellPane:
    found = multi_scene.start(CLAUDE, multi_scene.prepare_folders("facts", CLAUDE))
    found.wait_for_state("idle", seconds=60)
    found.send_prompt("MODEL text the moon is made of rock")
    found.wait_for_state("completed")
    return found


def test_tokens_are_counted_while_the_agent_works(multi_scene: MultiAgentScene) -> None:
    pane = multi_scene.start(CLAUDE, multi_scene.prepare_folders("tokens", CLAUDE))
    pane.wait_for_state("idle", seconds=60)
    pane.send_prompt("MODEL text the sky is full of air")
    pane.wait_for_state("completed")
    assert wait_until(lambda: pane.pane_row["tokens"]) == TOKENS_PER_ANSWER
    assert (pane.pane_row["context_tokens"], pane.pane_row["cost"], pane.pane_row["cost_is_estimated"]) == (
        TOKENS_PER_ANSWER,
        None,
        False,
    )
    pane.send_prompt("MODEL text and the sea of water")
    wait_until(lambda: pane.pane_row["tokens"] == 2 * TOKENS_PER_ANSWER)


def test_the_agent_is_identified_by_its_handshake(pane: ShellPane) -> None:
    row = wait_until(lambda: pane.pane_row if pane.pane_row["signature_class"] == "deterministic" else None)
    assert row["signature_reason"] == "handshake"
    assert row["signature_inputs"]["provider_hint"] == "claude_code"


def test_transcript_lines_are_found_by_role_and_agent(multi_scene: MultiAgentScene, pane: ShellPane) -> None:
    def search_transcript(query: str) -> list[tuple[str, str]]:
        found = call_robot(multi_scene.scene.visor, "search", query)["items"]
        return [(item["role"], item["agent"]) for item in found if item["source"] == "transcript"]

    wait_until(lambda: search_transcript("moon role:assistant") == [("assistant", "claude_code")], timeout_s=15)
    assert search_transcript("moon role:user agent:claude_code") == [("user", "claude_code")]
    assert search_transcript("moon agent:codex") == []


def test_the_agent_version_is_a_recorded_one(multi_scene: MultiAgentScene, pane: ShellPane) -> None:
    kinds = {item["name"]: item for item in call_robot(multi_scene.scene.visor, "agents", "list")["items"]}
    claude = kinds["claude_code"]
    assert set(claude["alive"]) <= set(claude["recorded"]) != set()
    checks = {item["name"]: item for item in call_robot(multi_scene.scene.visor, "doctor")["items"]}
    assert checks["agent_drift"]["status"] == "ok"


def test_explain_reads_a_cast_export_of_the_pane(multi_scene: MultiAgentScene, pane: ShellPane, tmp_path: Path) -> None:
    path = tmp_path / "film.cast"
    multi_scene.scene.visor.run_checked("export", str(pane.id), "--cast", "--output", str(path))
    explanation = call_robot(multi_scene.scene.visor, "explain", "--file", str(path), "--at", "1h")
    assert (explanation["agent"]["agent"], explanation["recording"]["kind"]) == ("claude_code", "cast")
    assert explanation["agent"]["evidence_mode"] == "heuristic"
    assert explanation["agent"]["state"] in ("idle", "completed")


def test_tokens_of_a_subagent_are_counted(pane: ShellPane) -> None:
    before = pane.pane_row["tokens"]
    pane.send_prompt(SUBAGENT)
    wait_until(lambda: pane.pane_row["tokens"] >= before + 3 * TOKENS_PER_ANSWER, timeout_s=40)
    sources = call_robot(pane.scene.visor, "list-sources")["items"]
    assert sum(item["records"] for item in sources if item["source"] == "subagents") > 0
