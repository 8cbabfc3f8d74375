import pytest
from msgspec.structs import replace

from termvisor.errors import BadRequest, ConfirmationRequired, Conflict, Refused
from termvisor.model.action.approval import MAX_SHOWN_CHARS, Approval
from termvisor.model.action.verdict import VerdictReason, combine_reasons
from termvisor.ops.api.gate_service import GatePreview
from termvisor.ops.approvals._edited_approval import send_edited_text
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


@pytest.fixture
async def services() -> FakeServices:
    return await build_sample_services()


def change(services: FakeServices, **fields: object) -> Approval:
    """Change the approval request in the inbox."""
    services.gate.approvals.approvals[0] = replace(services.gate.approvals.approvals[0], **fields)
    return services.gate.approvals.approvals[0]


async def test_the_edited_text_goes_to_the_pane_of_the_request(services: FakeServices) -> None:
    known = change(services, into="program", owner="builder")
    change(services, shown={**known.shown, "enter": False, "into_screen": True})
    await send_edited_text(services, 1, "fix it")
    ((action, terms),) = services.gate.executed
    assert (action.enter, action.into_screen, terms.into, terms.owner) == (False, True, "program", "builder")


async def test_without_a_text_the_stored_one_is_offered_for_editing(services: FakeServices) -> None:
    result = await run_command(services, "approve", "1", "--edit")
    assert (result.editable_text, result.question, result.status) == ("make deploy", "", 2)
    assert "approve 1 --edit <text>" in result.err
    assert len(await services.gate.approvals.list()) == 1


async def test_a_truncated_text_cannot_be_edited(services: FakeServices) -> None:
    change(services, shown={"text": "x" * MAX_SHOWN_CHARS + "… (9000 characters)"})
    with pytest.raises(BadRequest, match="too long to edit") as error:
        await send_edited_text(services, 1, "")
    assert not isinstance(error.value, ConfirmationRequired)


async def test_a_redacted_secret_is_not_sent(services: FakeServices) -> None:
    with pytest.raises(BadRequest, match="redacted secret"):
        await send_edited_text(services, 1, "login [redacted:token]")
    assert services.gate.executed == []


@pytest.mark.parametrize(
    "foreseen",
    [
        GatePreview(verdict=combine_reasons((VerdictReason(source="rule", id="r", answer="deny"),)), path=()),
        GatePreview(verdict=combine_reasons(()), path=(), refused="copy_mode", refused_text="the pane is in copy mode"),
    ],
    ids=["denied", "refused"],
)
async def test_a_refused_text_leaves_the_request_open(services: FakeServices, foreseen: GatePreview) -> None:
    services.gate.preview_result = foreseen
    with pytest.raises(Refused) as error:
        await send_edited_text(services, 1, "make test")
    assert "Request 1 is still open" in error.value.hint
    assert (services.gate.executed, len(await services.gate.approvals.list())) == ([], 1)


async def test_only_a_text_can_be_edited_and_only_while_it_is_asked_about(services: FakeServices) -> None:
    change(services, kind="kill")
    with pytest.raises(BadRequest, match="cannot be edited"):
        await send_edited_text(services, 1, "make")
    change(services, kind="send_text", state="denied")
    with pytest.raises(Conflict, match="already denied"):
        await send_edited_text(services, 1, "make")
