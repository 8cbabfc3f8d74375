import pytest
from msgspec.structs import replace

from termvisor.errors import BadRequest, ConfirmationRequired, Conflict, Refused
from termvisor.model.action.approval import MAX_SHOWN_CHARS, Approval
from termvisor.model.action.verdict import VerdictReason, combine_reasons
from termvisor.ops.api.gate_service import GatePreview
from termvisor.ops.approvals._edited_approval import send_edited_text
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import build_sample_services, run_command


@pytest.fixture
async def world() -> FakeServices:
    return await build_sample_services()


def change(world: FakeServices, **fields: object) -> Approval:
    """The question in the inbox, as the test wants it."""
    world.gate.approvals.approvals[0] = replace(world.gate.approvals.approvals[0], **fields)
    return world.gate.approvals.approvals[0]


async def test_the_text_goes_where_the_first_one_was_meant_for(world: FakeServices) -> None:
    known = change(world, into="program", owner="builder")
    change(world, shown={**known.shown, "enter": False, "into_screen": True})
    await send_edited_text(world, 1, "fix it")
    ((action, terms),) = world.gate.executed
    assert (action.enter, action.into_screen, terms.into, terms.owner) == (False, True, "program", "builder")


async def test_without_a_text_the_known_one_is_given_to_be_edited(world: FakeServices) -> None:
    answered = await run_command(world, "approve", "1", "--edit")
    assert (answered.editable_text, answered.question, answered.status) == ("make deploy", "", 2)
    assert "approve 1 --edit <the whole text>" in answered.err
    assert len(await world.gate.approvals.list()) == 1


async def test_a_text_that_is_not_known_whole_cannot_be_edited(world: FakeServices) -> None:
    change(world, shown={"text": "x" * MAX_SHOWN_CHARS + "… (9000 characters)"})
    with pytest.raises(BadRequest, match="too long") as error:
        await send_edited_text(world, 1, "")
    assert not isinstance(error.value, ConfirmationRequired)


async def test_a_masked_secret_is_not_typed(world: FakeServices) -> None:
    with pytest.raises(BadRequest, match="masked"):
        await send_edited_text(world, 1, "login [redacted:token]")
    assert world.gate.executed == []


@pytest.mark.parametrize(
    "foreseen",
    [
        GatePreview(verdict=combine_reasons((VerdictReason(source="rule", id="r", answer="deny"),)), path=()),
        GatePreview(verdict=combine_reasons(()), path=(), refused="copy_mode", refused_text="the pane is in copy mode"),
    ],
    ids=["denied", "refused"],
)
async def test_what_would_not_be_done_leaves_the_question_open(world: FakeServices, foreseen: GatePreview) -> None:
    world.gate.preview_result = foreseen
    with pytest.raises(Refused) as error:
        await send_edited_text(world, 1, "make test")
    assert "Question 1 is still open" in error.value.hint
    assert (world.gate.executed, len(await world.gate.approvals.list())) == ([], 1)


async def test_only_a_text_can_be_edited_and_only_while_it_is_asked_about(world: FakeServices) -> None:
    change(world, kind="kill")
    with pytest.raises(BadRequest, match="only a text"):
        await send_edited_text(world, 1, "make")
    change(world, kind="send_text", state="denied")
    with pytest.raises(Conflict, match="is denied"):
        await send_edited_text(world, 1, "make")
