import msgspec
import pytest
from msgspec.structs import replace

from termvisor.daemon.services.gate import GatePreview
from termvisor.errors import BadRequest, ConfirmationRequired, Conflict, Refused
from termvisor.model.action.action import Actor, SendText
from termvisor.model.action.approval import MAX_SHOWN_CHARS, Approval, VerdictReason, combine_reasons
from termvisor.ops.approvals.approve import send_edited_text
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_a_request_is_approved_once() -> None:
    services = await build_sample_services()
    assert "request 1 approved" in (await run_command(services, "approve", "1")).out
    assert (await run_command(services, "approve", "1")).status == 75


async def test_an_approval_may_create_a_permit() -> None:
    services = await build_sample_services()
    await run_command(services, "approve", "1", "--session")
    assert [permit.scope.kind for permit in await services.gate.approvals.list_permits()] == ["send_keys", "send_text"]


async def test_an_unknown_request_is_a_bad_request() -> None:
    assert (await run_command(await build_sample_services(), "approve", "99")).status == 2
    assert (await run_command(await build_sample_services(), "approve", "99", "--edit", "make")).status == 2


async def test_an_edited_text_is_typed_instead_and_the_request_is_closed() -> None:
    services = await build_sample_services()
    result = await run_command(services, "approve", "1", "--edit", "make", "test")
    assert result.out == "request 1 edited; your text: delivered\n"
    ((action, preconditions),) = services.gate.executed
    assert action == SendText(pane=1, text="make test")
    assert preconditions.correlation == "c0ffee"
    assert (await services.gate.approvals.find(1)).state == "edited"


async def test_an_edited_text_needs_the_edit_option_and_creates_no_permit() -> None:
    services = await build_sample_services()
    assert "after --edit" in (await run_command(services, "approve", "1", "make")).err
    assert (await run_command(services, "approve", "1", "--session", "--edit", "make")).status == 2
    assert [one.state for one in await services.gate.approvals.list()] == ["open"]


async def test_a_program_cannot_edit_a_request() -> None:
    services = await build_sample_services()
    services.gate.actor = Actor(kind="robot", uid=1000, pid=9)
    assert (await run_command(services, "robot", "approve", "1", "--edit", "make")).status == 77
    assert services.gate.executed == []


@pytest.fixture
async def services() -> FakeServices:
    return await build_sample_services()


def change_request(services: FakeServices, **fields: object) -> Approval:
    """Change the approval request in the inbox."""
    (known,) = services.gate.requests
    services.run_sql("UPDATE question SET asked = ?", msgspec.json.encode(replace(known, **fields)).decode())
    return services.gate.requests[0]


async def test_the_edited_text_goes_to_the_pane_of_the_request(services: FakeServices) -> None:
    known = change_request(services, into="program", owner="builder")
    change_request(services, shown={**known.shown, "enter": False, "into_screen": True})
    await send_edited_text(services, 1, "fix it")
    ((action, preconditions),) = services.gate.executed
    assert (action.enter, action.into_screen, preconditions.into, preconditions.owner) == (
        False,
        True,
        "program",
        "builder",
    )


async def test_without_a_text_the_stored_one_is_offered_for_editing(services: FakeServices) -> None:
    result = await run_command(services, "approve", "1", "--edit")
    assert (result.editable_text, result.question, result.status) == ("make deploy", "", 2)
    assert "approve 1 --edit <text>" in result.err
    assert len(await services.gate.approvals.list()) == 1


async def test_a_truncated_text_cannot_be_edited(services: FakeServices) -> None:
    change_request(services, shown={"text": "x" * MAX_SHOWN_CHARS + "… (9000 characters)"})
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


async def test_only_a_text_of_an_open_request_can_be_edited(services: FakeServices) -> None:
    change_request(services, kind="kill")
    with pytest.raises(BadRequest, match="cannot be edited"):
        await send_edited_text(services, 1, "make")
    change_request(services, kind="send_text")
    await services.gate.approvals.answer(1, "deny")
    with pytest.raises(Conflict, match="already denied"):
        await send_edited_text(services, 1, "make")
