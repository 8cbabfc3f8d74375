"""One call answers the only request, several, those of a pane, or all; each answer shows what came of it."""

import asyncio
import json

import msgspec
import pytest
from msgspec.structs import replace

from termvisor.model.action.action import Actor, SendText
from termvisor.model.action.approval import NO_EXPIRY, Approval, ApprovalOutcome
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services

AGENT = Actor(kind="agent", uid=1000, pid=9, name="claude_code")


@pytest.fixture
async def services() -> FakeServices:
    """The sample services with three open requests: 1 in pane 1, 2 of the agent in pane 2, 3 in pane 1."""
    services = await build_sample_services(op="status")
    (first,), entry = services.gate.requests, services.gate.entries[0]
    shown = {"agent": "claude_code", "tool": "Bash", "command": "touch made", "cwd": "/home/me/app"}
    dialog = replace(
        first, action_hash="b", kind="answer_agent", actor=AGENT, pane=2, shown=shown, expires_at=NO_EXPIRY, id=0
    )
    services.gate.add_request(dialog, entry)
    services.gate.add_request(replace(first, action_hash="c", id=0), entry)
    return services


async def read_states(services: FakeServices) -> list[str]:
    return [one.state for one in await services.gate.approvals.list(is_open=False)]


async def test_several_numbers_are_approved_by_one_call(services):
    result = await run_command(services, "approve", "1", "3")
    assert [line for line in result.out.splitlines() if "approved" in line] == [
        "request 1 approved: type 'make deploy' and press Enter",
        "request 3 approved: type 'make deploy' and press Enter",
    ]
    assert await read_states(services) == ["allowed", "open", "allowed"]


async def test_the_requests_of_a_pane_are_denied(services):
    envelope = (await run_command(services, "robot", "deny", "--pane", "1")).envelope
    assert [envelope["data"]["id"], *(one["id"] for one in envelope["data"]["more"])] == [1, 3]
    assert await read_states(services) == ["denied", "open", "denied"]
    assert (await run_command(services, "deny", "--pane", "1")).status == 4


async def test_all_are_listed_and_approved_after_a_confirmation(services):
    asked = await run_command(services, "approve", "--all")
    assert (asked.status, asked.consent_option) == (2, "--up-to=3")
    assert "2: let claude_code run 'touch made' (Bash) (pane 2)" in asked.question
    assert "approve 3 requests?" in asked.question
    services.gate.add_request(replace(services.gate.requests[0], action_hash="d"), services.gate.entries[0])
    await run_command(services, "approve", "--all", asked.consent_option)
    assert await read_states(services) == ["allowed", "allowed", "allowed", "open"]


async def test_without_a_number_only_a_single_request_is_answered(services):
    ambiguous = await run_command(services, "approve")
    assert (ambiguous.status, "3 open requests: say which" in ambiguous.err) == (2, True)
    await run_command(services, "deny", "1", "3")
    assert "request 2 approved" in (await run_command(services, "approve")).out
    assert (await run_command(services, "approve")).status == 4


async def test_a_closed_request_does_not_keep_others_from_being_answered(services):
    await run_command(services, "deny", "1")
    result = await run_command(services, "approve", "1", "3")
    assert (result.status, "not answered: approval request 1 was already denied" in result.out) == (75, True)
    assert await read_states(services) == ["denied", "open", "allowed"]


@pytest.mark.parametrize("words", [("1", "x"), ("1", "--all"), ("--edit",)])
async def test_a_wrong_choice_answers_nothing(services, words):
    assert (await run_command(services, "approve", *words)).status == 2
    assert await read_states(services) == ["open", "open", "open"]


async def answer_and_deliver(services: FakeServices, outcome: ApprovalOutcome, *words: str) -> str:
    """Answer request 2, whose agent waits, deliver the answer and return what the person reads."""
    queue = services.gate._approval_queue
    with queue._count_waiting(2):
        call = asyncio.ensure_future(run_command(services, *words))
        with queue.updates.subscribe() as updates:
            answered: Approval = await updates.get()
        assert answered.id == 2
        await queue.record_outcome(2, outcome)
        return (await call).out


async def test_an_awaited_answer_shows_its_verified_outcome(services):
    left = ApprovalOutcome(status="done", why="dialog_left")
    out = await answer_and_deliver(services, left, "approve", "2")
    assert "answered; verified: the dialog has closed" in out


async def test_a_reason_is_sent_to_an_agent_whose_dialog_took_only_the_denial(services):
    services.agents.set_state(2, "idle")
    left = ApprovalOutcome(status="done", why="dialog_left")
    out = await answer_and_deliver(services, left, "deny", "2", "--reason", "use make test")
    assert "the reason was sent as a prompt" in out
    ((action, preconditions),) = services.gate.executed
    assert action == SendText(pane=2, text="use make test")
    assert (preconditions.into, preconditions.is_input_empty) == ("program", True)


async def test_a_hook_gets_the_reason_with_the_answer(services):
    hook = ApprovalOutcome(status="done", why="hook_answered")
    out = await answer_and_deliver(services, hook, "deny", "2", "--reason", "use make test")
    assert "the agent gets the reason with the answer" in out
    assert services.gate.executed == []
    assert (await services.gate.approvals.find(2)).reason == "use make test"


async def test_the_inbox_is_a_table_and_one_request_is_shown_whole(services):
    lines = (await run_command(services, "inbox")).out.splitlines()
    assert lines[0].split() == ["ID", "AGE", "PANE", "FOLDER", "ASKS"]
    assert lines[2].split(maxsplit=4)[3:] == ["/home/me/app", "let claude_code run 'touch made' (Bash)"]
    whole = (await run_command(services, "inbox", "2")).out
    assert "state  open, as long as the dialog is shown" in whole
    assert (await run_command(services, "inbox", "99")).status == 2


@pytest.mark.parametrize(
    ("dialog", "asks"),
    [
        ("Bash command\nTip: x\ntouch made\nDo you want to proceed?\n❯ 1. Yes", "codex: touch made (Bash command)"),
        ("Do you trust it?\n❯ 1. Yes", "codex: Do you trust it?"),
    ],
)
async def test_a_dialog_is_described_by_what_it_asks(services, dialog, asks):
    shown = {"agent": "codex", "tool": "dialog", "given": json.dumps({"dialog": dialog})}
    changed = replace(services.gate.requests[1], shown=shown)
    services.run_sql("UPDATE question SET asked = ? WHERE id = 2", msgspec.json.encode(changed).decode())
    assert asks in (await run_command(services, "inbox")).out


async def test_status_and_next_name_the_command_that_answers(services):
    assert "visor approve 2" in (await run_command(services, "status")).out
    assert "`visor approve 2` or `visor deny 2` answers it" in (await run_command(services, "next")).out
    assert (await run_command(services, "robot", "next")).envelope["data"]["requests"] == [2]
