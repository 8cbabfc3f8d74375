import asyncio

import pytest

from termvisor.errors import NeedsApproval, StaleSnapshot
from termvisor.model.action.action import Actor, SendText
from termvisor.model.action.outcome import Outcome
from termvisor.testing.asking import ask, lively
from termvisor.testing.world import MemoryWorld, settled

DELIVERED = Outcome(status="delivered", why="command_started", key="k1", bytes_sent=9)


@pytest.fixture
async def world() -> MemoryWorld:
    return await lively()


async def test_what_is_asked_for_goes_through_the_door(world: MemoryWorld) -> None:
    line = ("send", "1", "--program", "--key", "k1", "--if-screen", "ready", "--stable", "2", "--", "make", "-j4")
    answered = await ask(world, "robot", *line)
    ((action, terms),) = world.door.done
    assert action == SendText(pane=1, text="make -j4")
    assert (terms.into, terms.key, terms.screen, terms.stable_for) == ("program", "k1", "ready", 2.0)
    data = answered.envelope["data"]
    assert (data["status"], data["bytes_sent"], data["cursor"], data["pane"]["id"]) == ("delivered", 9, "1:5", 1)


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        (DELIVERED, 0),
        (Outcome(status="typed_not_submitted", why="as_wanted"), 0),
        (Outcome(status="typed_not_submitted", why="still_in_input"), 5),
        (Outcome(status="unknown", why="not_confirmed"), 6),
    ],
)
async def test_the_exit_status_says_what_is_proven(world: MemoryWorld, outcome: Outcome, status: int) -> None:
    world.door.sent = outcome
    assert (await ask(world, "send", "1", "make")).status == status


async def test_a_dry_run_does_nothing_and_says_what_would_be_typed(world: MemoryWorld) -> None:
    answered = await ask(world, "send", "1", "--dry-run", "make test")
    assert world.door.done == []
    assert "policy says allow" in answered.out
    assert r"it would type 'make test\r'" in answered.out


async def test_an_answer_is_waited_for_behind_the_row_that_shows_the_text(world: MemoryWorld) -> None:
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(ask(world, "robot", "send", "1", "--wait-for", "done", "echo done"))
        await world.clock.until_asleep()
        world.say(1, "$ echo done")
        await settled()
        world.say(1, "done")
    data = waiting.result().envelope["data"]
    assert (data["pattern_matched"], data["wait_ended"]) == (True, "matched")


async def test_an_answer_that_does_not_come_is_told_by_the_exit_status(world: MemoryWorld) -> None:
    answered = await ask(world, "robot", "send", "1", "--wait-for", "never", "--timeout-secs", "0", "make")
    assert answered.status == 124
    assert answered.envelope["data"]["pattern_matched"] is False
    assert answered.envelope["data"]["status"] == "delivered"


async def test_a_pattern_that_cannot_be_understood_is_told_before_anything_is_typed(world: MemoryWorld) -> None:
    answered = await ask(world, "send", "1", "--wait-for", "(", "--wait-for-regex", "make")
    assert answered.status == 2
    assert world.door.done == []


async def test_a_refusal_is_told_with_its_reason(world: MemoryWorld) -> None:
    world.door.error = StaleSnapshot("nothing was done: the pane is in copy mode", details={"why": "copy_mode"})
    answered = await ask(world, "robot", "send", "1", "make")
    assert answered.status == 75
    assert answered.envelope["error"]["details"]["why"] == "copy_mode"


async def test_a_person_at_a_terminal_is_asked_there(world: MemoryWorld) -> None:
    world.door.error = NeedsApproval("a person must allow this first", details={"question": 1})
    answered = await ask(world, "send", "1", "make deploy")
    assert answered.status == 77
    assert "type 'make deploy' and press Enter" in answered.shown
    assert (answered.number, answered.editable) == ("1", "make deploy")


async def test_a_program_gets_the_question_s_number_and_cannot_consent(world: MemoryWorld) -> None:
    world.door.actor = Actor(kind="robot", uid=1000, pid=9)
    world.door.error = NeedsApproval("a person must allow this first", details={"question": 1})
    answered = await ask(world, "robot", "send", "1", "--yes", "make deploy")
    assert answered.envelope["error"]["details"] == {"question": 1}
    assert (await world.door.inbox.list())[0].state == "open"
    assert len(world.door.done) == 1
