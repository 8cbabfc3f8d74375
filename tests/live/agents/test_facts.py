"""What the real Claude Code tells beside its state: tokens, cost, its version, what was said; and films of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.agents.lab import CLAUDE
from tests.live.agents.room import Room, Seat, room
from tests.live.looking import look
from tests.live.waiting import until

pytestmark = pytest.mark.live

SUBAGENT = 'MODEL tool Agent {"description":"a","prompt":"\\u004dODEL text b","subagent_type":"general-purpose"}'
ANSWER = 1520
"""Tokens of each answer of the scripted model: 1500 of input, 20 of output."""


@pytest.fixture(scope="module")
def one() -> Iterator[Room]:
    with room() as found:
        yield found


@pytest.fixture(scope="module")
def seat(one: Room) -> Seat:
    found = one.start(CLAUDE, one.place("facts", CLAUDE))
    found.becomes("idle", seconds=60)
    found.prompt("MODEL text the moon is made of rock")
    found.becomes("completed")
    return found


def test_its_tokens_are_counted_while_it_works(one: Room) -> None:
    seat = one.start(CLAUDE, one.place("tokens", CLAUDE))
    seat.becomes("idle", seconds=60)
    seat.prompt("MODEL text the sky is full of air")
    seat.becomes("completed")
    assert until(lambda: seat.row["tokens"]) == ANSWER
    assert (seat.row["context_tokens"], seat.row["cost"], seat.row["cost_is_estimated"]) == (ANSWER, None, False)
    seat.prompt("MODEL text and the sea of water")
    until(lambda: seat.row["tokens"] == 2 * ANSWER)


def test_it_is_known_by_its_own_word_and_by_every_trace(seat: Seat) -> None:
    row = until(lambda: seat.row if seat.row["signature_class"] == "deterministic" else None)
    assert row["signature_reason"] == "handshake"
    assert row["signature_inputs"]["provider_hint"] == "claude_code"


def test_what_was_said_is_found_by_who_said_it(one: Room, seat: Seat) -> None:
    def said(query: str) -> list[tuple[str, str]]:
        found = look(one.scene.visor, "search", query)["items"]
        return [(item["role"], item["agent"]) for item in found if item["source"] == "transcript"]

    until(lambda: said("moon role:assistant") == [("assistant", "claude_code")], seconds=15)
    assert said("moon role:user agent:claude_code") == [("user", "claude_code")]
    assert said("moon agent:codex") == []


def test_its_version_is_one_that_was_recorded(one: Room, seat: Seat) -> None:
    kinds = {item["name"]: item for item in look(one.scene.visor, "agents", "list")["items"]}
    claude = kinds["claude_code"]
    assert set(claude["alive"]) <= set(claude["recorded"]) != set()
    checks = {item["name"]: item for item in look(one.scene.visor, "doctor")["items"]}
    assert checks["agent_drift"]["status"] == "ok"


def test_a_film_of_its_pane_is_explained(one: Room, seat: Seat, tmp_path: Path) -> None:
    path = tmp_path / "film.cast"
    one.scene.visor.visor("export", str(seat.id), "--cast", "--output", str(path))
    told = look(one.scene.visor, "explain", "--file", str(path), "--at", "1h")
    assert (told["agent"]["agent"], told["recording"]["kind"]) == ("claude_code", "cast")
    assert told["agent"]["evidence_mode"] == "heuristic"
    assert told["agent"]["state"] in ("idle", "completed")


def test_a_sub_agent_is_paid_for_too(seat: Seat) -> None:
    before = seat.row["tokens"]
    seat.prompt(SUBAGENT)
    until(lambda: seat.row["tokens"] >= before + 3 * ANSWER, seconds=40)
    sources = look(seat.scene.visor, "list-sources")["items"]
    assert sum(item["records"] for item in sources if item["source"] == "subagents") > 0
