import asyncio

import pytest

from termvisor.errors import NeedsApproval, StaleSnapshot
from termvisor.model.action.action import Actor, SendText
from termvisor.model.action.outcome import Outcome
from termvisor.testing.fake_services import FakeServices, let_tasks_run
from termvisor.testing.operation_calls import build_sample_services, run_command

DELIVERED = Outcome(status="delivered", why="command_started", key="k1", bytes_sent=9)


@pytest.fixture
async def world() -> FakeServices:
    return await build_sample_services()


async def test_what_is_asked_for_goes_through_the_door(world: FakeServices) -> None:
    line = ("send", "1", "--program", "--key", "k1", "--if-screen", "ready", "--stable", "2", "--", "make", "-j4")
    answered = await run_command(world, "robot", *line)
    ((action, terms),) = world.gate.executed
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
async def test_the_exit_status_says_what_is_proven(world: FakeServices, outcome: Outcome, status: int) -> None:
    world.gate.send_outcome = outcome
    assert (await run_command(world, "send", "1", "make")).status == status


async def test_a_dry_run_does_nothing_and_says_what_would_be_typed(world: FakeServices) -> None:
    answered = await run_command(world, "send", "1", "--dry-run", "make test")
    assert world.gate.executed == []
    assert "policy says allow" in answered.out
    assert r"it would type 'make test\r'" in answered.out


async def test_an_answer_is_waited_for_behind_the_row_that_shows_the_text(world: FakeServices) -> None:
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(run_command(world, "robot", "send", "1", "--wait-for", "done", "echo done"))
        await world.clock.wait_until_asleep()
        world.print_lines(1, "$ echo done")
        await let_tasks_run()
        world.print_lines(1, "done")
    data = waiting.result().envelope["data"]
    assert (data["pattern_matched"], data["wait_ended"]) == (True, "matched")


async def test_an_answer_that_does_not_come_is_told_by_the_exit_status(world: FakeServices) -> None:
    answered = await run_command(world, "robot", "send", "1", "--wait-for", "never", "--timeout-secs", "0", "make")
    assert answered.status == 124
    assert answered.envelope["data"]["pattern_matched"] is False
    assert answered.envelope["data"]["status"] == "delivered"


async def test_a_pattern_that_cannot_be_understood_is_told_before_anything_is_typed(world: FakeServices) -> None:
    answered = await run_command(world, "send", "1", "--wait-for", "(", "--wait-for-regex", "make")
    assert answered.status == 2
    assert world.gate.executed == []


async def test_a_refusal_is_told_with_its_reason(world: FakeServices) -> None:
    world.gate.error = StaleSnapshot("nothing was done: the pane is in copy mode", details={"why": "copy_mode"})
    answered = await run_command(world, "robot", "send", "1", "make")
    assert answered.status == 75
    assert answered.envelope["error"]["details"]["why"] == "copy_mode"


async def test_a_person_at_a_terminal_is_asked_there(world: FakeServices) -> None:
    world.gate.error = NeedsApproval("a person must allow this first", details={"question": 1})
    answered = await run_command(world, "send", "1", "make deploy")
    assert answered.status == 77
    assert "type 'make deploy' and press Enter" in answered.question
    assert (answered.approval_number, answered.editable_text) == ("1", "make deploy")


async def test_a_program_gets_the_question_s_number_and_cannot_consent(world: FakeServices) -> None:
    world.gate.actor = Actor(kind="robot", uid=1000, pid=9)
    world.gate.error = NeedsApproval("a person must allow this first", details={"question": 1})
    answered = await run_command(world, "robot", "send", "1", "--yes", "make deploy")
    assert answered.envelope["error"]["details"] == {"question": 1}
    assert (await world.gate.approvals.list())[0].state == "open"
    assert len(world.gate.executed) == 1
