"""The inbox: who is asked, who may answer, and how long that is good for."""

import asyncio

import pytest
from msgspec.structs import replace

from termvisor.actions.approvals import ApprovalQueue
from termvisor.actions.audit_entry import AuditContext
from termvisor.actions.policy_check import PolicyDecision
from termvisor.clock import NS, SystemClock
from termvisor.errors import NeedsApproval, Refused
from termvisor.model.action.action import Actor, Kill, SendText
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.action.verdict import VerdictReason, combine_reasons
from termvisor.model.ids import PaneId
from termvisor.store import Store
from termvisor.testing.fake_services import FakeClock, let_tasks_run
from tests.unit.actions.test_preconditions import ME, VIEW

ANN = replace(ME, kind="human", pid=500)
ACTION = SendText(pane=PaneId(1), text="make test")
CASE = AuditContext(action=ACTION, actor=ME, correlation="c", view=VIEW)
JUDGED = PolicyDecision(
    action=ACTION, verdict=combine_reasons((VerdictReason(source="rule", id="r", answer="ask"),)), expires_for=60
)


@pytest.fixture
async def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def inbox(tmp_path, clock):
    store = await Store.open(str(tmp_path / "visor.db"), clock)
    yield ApprovalQueue(store, clock)
    await store.close()


async def asked(inbox: ApprovalQueue, case: AuditContext = CASE) -> int:
    with pytest.raises(NeedsApproval) as error:
        await inbox.require_approval(case, JUDGED, 0)
    return int(error.value.details["question"])


async def test_an_answer_lets_the_same_action_through_once(inbox):
    await inbox.answer(await asked(inbox), "allow", ANN)
    await inbox.require_approval(CASE, JUDGED, 0)
    await asked(inbox)


async def test_an_answer_is_for_no_other_action(inbox):
    await inbox.answer(await asked(inbox), "allow", ANN)
    await asked(inbox, replace(CASE, action=replace(ACTION, text="make all")))


async def test_who_waits_hears_the_answer(inbox):
    waiting = asyncio.ensure_future(inbox.require_approval(CASE, JUDGED, 30))
    with inbox.updates.subscribe() as news:
        await asyncio.sleep(0)
        question = await news.get()
    await inbox.answer(question.id, "allow", ANN)
    await waiting


async def test_a_no_is_a_no(inbox):
    waiting = asyncio.ensure_future(inbox.require_approval(CASE, JUDGED, 30))
    with inbox.updates.subscribe() as news:
        question = await news.get()
    await inbox.answer(question.id, "deny", ANN)
    with pytest.raises(Refused, match="said no"):
        await waiting


async def test_a_question_that_nobody_answers_ends(inbox, clock):
    number = await asked(inbox)
    await clock.advance(61)
    await inbox.expire()
    assert await asked(inbox) != number
    await let_tasks_run()


async def test_a_question_expires_under_who_waits_for_it(tmp_path):
    clock = SystemClock()
    store = await Store.open(str(tmp_path / "visor.db"), clock)
    with pytest.raises(Refused, match="nobody answered in time"):
        await ApprovalQueue(store, clock).require_approval(CASE, replace(JUDGED, expires_for=0.05), timeout=30)
    await store.close()


async def test_whoever_asks_does_not_answer(inbox):
    mine = replace(CASE, actor=replace(ME, pane=PaneId(4)))
    number = await asked(inbox, mine)
    with pytest.raises(Refused, match="this very pane"):
        await inbox.answer(number, "allow", replace(ANN, pane=PaneId(4)))
    assert (await inbox.answer(number, "allow", replace(ANN, pane=PaneId(5)))).state == "allowed"


async def test_a_lasting_answer_spares_the_next_question_for_a_while(inbox, clock):
    await inbox.answer(await asked(inbox), "allow", ANN, lasting=True)
    other = replace(CASE, action=replace(ACTION, text="make all"))
    await inbox.require_approval(other, JUDGED, 0)
    with pytest.raises(NeedsApproval):
        await inbox.require_approval(replace(CASE, action=Kill(pane=PaneId(1))), JUDGED, 0)
    with pytest.raises(NeedsApproval):
        await inbox.require_approval(replace(other, actor=replace(ME, uid=7)), JUDGED, 0)
    await clock.advance(9 * 3600)
    with pytest.raises(NeedsApproval):
        await inbox.require_approval(other, JUDGED, 0)


async def test_the_question_says_until_when_it_stands(inbox, clock):
    with pytest.raises(NeedsApproval) as error:
        await inbox.require_approval(CASE, JUDGED, 0)
    assert error.value.details["expires_at"] == clock.now() + 60 * NS


@pytest.mark.parametrize("kind", ["robot", "mcp", "workflow", "assistant", "agent"])
@pytest.mark.parametrize("answer", ["allow", "edit"])
async def test_a_program_cannot_say_yes_not_even_from_another_process(inbox, kind, answer):
    number = await asked(inbox)
    with pytest.raises(Refused, match="only a person"):
        await inbox.answer(number, answer, replace(ME, kind=kind, pid=99_999))
    assert (await inbox.answer(number, "deny", replace(ME, kind=kind, pid=99_999))).state == "denied"


async def test_who_waits_hears_that_a_person_does_it_in_other_words(inbox):
    waiting = asyncio.ensure_future(inbox.require_approval(CASE, JUDGED, 30))
    with inbox.updates.subscribe() as news:
        question = await news.get()
    assert (await inbox.answer(question.id, "edit", ANN)).state == "edited"
    with pytest.raises(Refused, match="in other words") as error:
        await waiting
    assert (error.value.details["why"], error.value.details["correlation"]) == ("edited", CASE.correlation)


async def test_a_question_keeps_what_a_text_was_meant_for(inbox):
    number = await asked(inbox, replace(CASE, preconditions=Preconditions(into="program", owner="ann")))
    question = await inbox.answer(number, "deny", ANN)
    assert (question.into, question.owner) == ("program", "ann")


TWO = replace(JUDGED, needs=2)
BOB = replace(ANN, uid=ANN.uid + 1)


async def said_by(inbox: ApprovalQueue, *people: Actor) -> None:
    """Two must say yes, and these do."""
    with pytest.raises(NeedsApproval) as error:
        await inbox.require_approval(CASE, TWO, 0)
    for one in people:
        await inbox.answer(int(error.value.details["question"]), "allow", one)
    await inbox.require_approval(CASE, TWO, 0)


async def test_two_people_are_two_users(inbox):
    await said_by(inbox, ANN, BOB)


@pytest.mark.parametrize("again", [ANN, replace(ANN, pid=77, name="second ann", pane=PaneId(9))])
async def test_one_user_is_one_person_at_any_terminal_and_by_any_name(inbox, again):
    with pytest.raises(NeedsApproval, match="2 people must allow this first, 1 did"):
        await said_by(inbox, ANN, again)


async def test_a_permit_of_one_person_does_not_stand_in_for_two(inbox):
    await inbox.answer(await asked(inbox), "allow", ANN, lasting=True)
    with pytest.raises(NeedsApproval, match="2 people"):
        await said_by(inbox)


async def test_two_people_give_no_lasting_permit(inbox):
    with pytest.raises(NeedsApproval) as error:
        await inbox.require_approval(CASE, TWO, 0)
    for one in (ANN, BOB):
        await inbox.answer(int(error.value.details["question"]), "allow", one, lasting=True)
    await inbox.require_approval(CASE, TWO, 0)
    await asked(inbox)
