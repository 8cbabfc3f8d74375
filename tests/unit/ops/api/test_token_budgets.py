"""What an agent pays to read an answer: a token is about four bytes of compact JSON."""

import msgspec
import pytest

from termvisor.ops.api.services import LocalServices
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services

_BYTES_PER_TOKEN = 4


async def _measure_tokens(*argv: str, op: str = "") -> float:
    services = await build_sample_services(op=op) if op else LocalServices()
    answered = await run_command(services, "robot", *argv, is_full=False)
    assert answered.status == 0
    return len(answered.out.encode()) / _BYTES_PER_TOKEN


@pytest.mark.parametrize(
    ("argv", "op", "budget"),
    [
        (("quick-start",), "", 500),
        (("help",), "", 1500),
        (("help", "send"), "", 1000),
        (("help", "get-text"), "", 800),
        (("status",), "status", 250),
        (("events",), "list_events", 170),
        (("inbox",), "inbox", 150),
        (("next",), "next", 90),
        (("search", "error", "--limit", "5"), "search_history", 130),
        (("reserve", "1", "--owner", "alice"), "reserve", 60),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
async def test_an_answer_stays_within_its_budget(argv: tuple[str, ...], op: str, budget: int) -> None:
    assert await _measure_tokens(*argv, op=op) <= budget


async def test_a_pane_costs_at_most_sixty_tokens() -> None:
    services = await build_sample_services(op="list_panes")
    items = (await run_command(services, "robot", "state", "--gone", is_full=False)).envelope["data"]["items"]
    tokens = [len(msgspec.json.encode(item)) / _BYTES_PER_TOKEN for item in items]
    assert sum(tokens) / len(items) <= 55
    # One pane has more to tell than most: subtasks, and a screen that contradicts its agent.
    assert sorted(tokens)[-2] <= 65


async def test_a_hint_for_a_program_names_commands_for_programs() -> None:
    services = await build_sample_services()
    robot = (await run_command(services, "robot", "get-text", "nowhere")).envelope["hint"]
    person = (await run_command(services, "get-text", "nowhere")).err
    assert "`visor robot state`" in robot
    assert "`visor list-panes`" in person
