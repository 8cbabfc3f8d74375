"""What the real Claude Code tells beside its state: tokens, cost, its version, what was said; and films of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.agents.agent_programs import CLAUDE
from tests.live.agents.multi_agent_scene import MultiAgentScene, ShellPane, open_multi_agent_scene
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot

pytestmark = pytest.mark.live

SUBAGENT = 'MODEL tool Agent {"description":"a","prompt":"\\u004dODEL text b","subagent_type":"general-purpose"}'
ANSWER = 1520
"""Tokens of each answer of the scripted model: 1500 of input, 20 of output."""


@pytest.fixture(scope="module")
def one() -> Iterator[MultiAgentScene]:
    with open_multi_agent_scene() as found:
        yield found


@pytest.fixture(scope="module")
def seat(one: MultiAgentScene) -> ShellPane:
    found = one.start(CLAUDE, one.prepare_folders("facts", CLAUDE))
    found.wait_for_state("idle", seconds=60)
    found.send_prompt("MODEL text the moon is made of rock")
    found.wait_for_state("completed")
    return found


def test_its_tokens_are_counted_while_it_works(one: MultiAgentScene) -> None:
    seat = one.start(CLAUDE, one.prepare_folders("tokens", CLAUDE))
    seat.wait_for_state("idle", seconds=60)
    seat.send_prompt("MODEL text the sky is full of air")
    seat.wait_for_state("completed")
    assert wait_until(lambda: seat.pane_row["tokens"]) == ANSWER
    assert (seat.pane_row["context_tokens"], seat.pane_row["cost"], seat.pane_row["cost_is_estimated"]) == (
        ANSWER,
        None,
        False,
    )
    seat.send_prompt("MODEL text and the sea of water")
    wait_until(lambda: seat.pane_row["tokens"] == 2 * ANSWER)


def test_it_is_known_by_its_own_word_and_by_every_trace(seat: ShellPane) -> None:
    row = wait_until(lambda: seat.pane_row if seat.pane_row["signature_class"] == "deterministic" else None)
    assert row["signature_reason"] == "handshake"
    assert row["signature_inputs"]["provider_hint"] == "claude_code"


def test_what_was_said_is_found_by_who_said_it(one: MultiAgentScene, seat: ShellPane) -> None:
    def said(query: str) -> list[tuple[str, str]]:
        found = call_robot(one.scene.visor, "search", query)["items"]
        return [(item["role"], item["agent"]) for item in found if item["source"] == "transcript"]

    wait_until(lambda: said("moon role:assistant") == [("assistant", "claude_code")], timeout_s=15)
    assert said("moon role:user agent:claude_code") == [("user", "claude_code")]
    assert said("moon agent:codex") == []


def test_its_version_is_one_that_was_recorded(one: MultiAgentScene, seat: ShellPane) -> None:
    kinds = {item["name"]: item for item in call_robot(one.scene.visor, "agents", "list")["items"]}
    claude = kinds["claude_code"]
    assert set(claude["alive"]) <= set(claude["recorded"]) != set()
    checks = {item["name"]: item for item in call_robot(one.scene.visor, "doctor")["items"]}
    assert checks["agent_drift"]["status"] == "ok"


def test_a_film_of_its_pane_is_explained(one: MultiAgentScene, seat: ShellPane, tmp_path: Path) -> None:
    path = tmp_path / "film.cast"
    one.scene.visor.run_checked("export", str(seat.id), "--cast", "--output", str(path))
    told = call_robot(one.scene.visor, "explain", "--file", str(path), "--at", "1h")
    assert (told["agent"]["agent"], told["recording"]["kind"]) == ("claude_code", "cast")
    assert told["agent"]["evidence_mode"] == "heuristic"
    assert told["agent"]["state"] in ("idle", "completed")


def test_a_sub_agent_is_paid_for_too(seat: ShellPane) -> None:
    before = seat.pane_row["tokens"]
    seat.send_prompt(SUBAGENT)
    wait_until(lambda: seat.pane_row["tokens"] >= before + 3 * ANSWER, timeout_s=40)
    sources = call_robot(seat.scene.visor, "list-sources")["items"]
    assert sum(item["records"] for item in sources if item["source"] == "subagents") > 0
