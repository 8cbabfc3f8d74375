import asyncio

import pytest
from msgspec.structs import replace

from termvisor.daemon.services.gate import GatePreview
from termvisor.errors import NeedsApproval, StaleSnapshot
from termvisor.model.action.action import Actor, SendText
from termvisor.model.action.approval import VerdictReason, combine_reasons
from termvisor.model.action.outcome import Outcome
from termvisor.testing.fake_clock import let_tasks_run
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services

DELIVERED = Outcome(status="delivered", why="command_started", key="k1", bytes_sent=9)


@pytest.fixture
async def services() -> FakeServices:
    return await build_sample_services()


async def test_the_action_goes_through_the_gate(services: FakeServices) -> None:
    line = ("send", "1", "--program", "--key", "k1", "--if-screen", "ready", "--stable", "2", "--", "make", "-j4")
    result = await run_command(services, "robot", *line)
    ((action, preconditions),) = services.gate.executed
    assert action == SendText(pane=1, text="make -j4")
    assert (preconditions.into, preconditions.key, preconditions.screen, preconditions.stable_for) == (
        "program",
        "k1",
        "ready",
        2.0,
    )
    data = result.envelope["data"]
    assert (data["status"], data["bytes_sent"], data["cursor"], data["pane"]["id"]) == ("delivered", 9, "1:5", 1)


async def test_the_cursor_carries_the_time_of_the_send(services: FakeServices) -> None:
    services.gate.send_outcome = replace(DELIVERED, sent_at=services.clock.now())
    result = await run_command(services, "robot", "send", "1", "--program", "--", "make")
    cursor = result.envelope["data"]["cursor"]
    assert cursor == f"1:5@{services.clock.now():x}"
    assert (await run_command(services, "robot", "get-text", "1", "--since", cursor)).status == 0


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        (DELIVERED, 0),
        (Outcome(status="queued", why="in_queue"), 0),
        (Outcome(status="typed_not_submitted", why="as_wanted"), 0),
        (Outcome(status="typed_not_submitted", why="still_in_input"), 5),
        (Outcome(status="unknown", why="not_confirmed"), 6),
    ],
)
async def test_the_exit_status_reports_what_was_verified(services: FakeServices, outcome: Outcome, status: int) -> None:
    services.gate.send_outcome = outcome
    assert (await run_command(services, "send", "1", "make")).status == status


async def test_a_dry_run_shows_the_text_without_typing(services: FakeServices) -> None:
    result = await run_command(services, "send", "1", "--dry-run", "make test")
    assert services.gate.executed == []
    assert "policy: allow" in result.out
    assert r"would type 'make test\r'" in result.out


@pytest.mark.parametrize(
    ("answer", "code", "status"),
    [("allow", "stale_snapshot", 75), ("deny", "policy_denied", 77), ("ask", "needs_approval", 77)],
)
async def test_a_dry_run_ends_as_the_call_would(services: FakeServices, answer: str, code: str, status: int) -> None:
    verdict = combine_reasons((VerdictReason(source="rule", id="r", answer=answer),))
    services.gate.preview_result = GatePreview(
        verdict=verdict,
        path=(),
        refused="not_at_prompt",
        refused_text="no marks",
        code=code,
        hint="`visor setup shell`",
    )
    result = await run_command(services, "send", "1", "--dry-run", "make test")
    assert result.status == status
    assert "no marks (not_at_prompt)\nhint: `visor setup shell`" in result.out
    assert "would type" not in result.out
    answered = await run_command(services, "robot", "send", "1", "--dry-run", "make test")
    assert (answered.status, answered.envelope["data"]["foreseen"]["code"]) == (status, code)


async def test_a_dry_run_approved_in_advance_would_type(services: FakeServices) -> None:
    verdict = combine_reasons((VerdictReason(source="rule", id="r", answer="ask"),))
    services.gate.preview_result = GatePreview(verdict=verdict, path=(), code="needs_approval")
    result = await run_command(services, "send", "1", "--dry-run", "--yes", "make test")
    assert (result.status, "would type" in result.out) == (0, True)


async def test_a_prompt_and_a_program_exclude_each_other(services: FakeServices) -> None:
    result = await run_command(services, "send", "1", "--at-prompt", "--program", "make")
    assert (result.status, services.gate.executed) == (2, [])


async def test_wait_matches_only_rows_after_the_sent_text(services: FakeServices) -> None:
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(run_command(services, "robot", "send", "1", "--wait-for", "done", "echo done"))
        await services.clock.wait_until_asleep()
        services.print_lines(1, "$ echo done")
        await let_tasks_run()
        services.print_lines(1, "done")
    data = waiting.result().envelope["data"]
    assert (data["pattern_matched"], data["wait_ended"]) == (True, "matched")


async def test_a_wait_that_times_out_sets_the_exit_status(services: FakeServices) -> None:
    result = await run_command(services, "robot", "send", "1", "--wait-for", "never", "--timeout-secs", "0", "make")
    assert result.status == 124
    assert result.envelope["data"]["pattern_matched"] is False
    assert result.envelope["data"]["status"] == "delivered"


async def test_an_invalid_pattern_is_rejected_before_typing(services: FakeServices) -> None:
    result = await run_command(services, "send", "1", "--wait-for", "(", "--wait-for-regex", "make")
    assert result.status == 2
    assert services.gate.executed == []


async def test_a_refusal_has_its_reason(services: FakeServices) -> None:
    services.gate.error = StaleSnapshot("nothing was done: the pane is in copy mode", details={"why": "copy_mode"})
    result = await run_command(services, "robot", "send", "1", "make")
    assert result.status == 75
    assert result.envelope["error"]["details"]["why"] == "copy_mode"


async def test_a_user_at_a_terminal_is_prompted(services: FakeServices) -> None:
    services.gate.error = NeedsApproval("a person must allow this first", details={"question": 1})
    result = await run_command(services, "send", "1", "make deploy")
    assert result.status == 77
    assert "type 'make deploy' and press Enter" in result.question
    assert (result.approval_number, result.editable_text) == ("1", "make deploy")


async def test_a_program_gets_the_approval_id_and_cannot_approve(services: FakeServices) -> None:
    services.gate.actor = Actor(kind="robot", uid=1000, pid=9)
    services.gate.error = NeedsApproval("a person must allow this first", details={"question": 1})
    result = await run_command(services, "robot", "send", "1", "--yes", "make deploy")
    assert result.envelope["error"]["details"] == {"question": 1}
    assert (await services.gate.approvals.list())[0].state == "open"
    assert len(services.gate.executed) == 1
