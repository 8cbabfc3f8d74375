from termvisor.model.action.action import Actor, SendText
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_a_request_is_approved_once() -> None:
    services = await build_sample_services()
    assert "request 1 approved" in (await run_command(services, "approve", "1")).out
    assert (await run_command(services, "approve", "1")).status == 75


async def test_an_approval_may_create_a_permit() -> None:
    services = await build_sample_services()
    await run_command(services, "approve", "1", "--session")
    assert services.gate.approvals.lasting_answers == [1]


async def test_an_unknown_request_is_a_bad_request() -> None:
    assert (await run_command(await build_sample_services(), "approve", "99")).status == 2
    assert (await run_command(await build_sample_services(), "approve", "99", "--edit", "make")).status == 2


async def test_another_text_is_typed_instead_and_the_request_is_closed() -> None:
    services = await build_sample_services()
    result = await run_command(services, "approve", "1", "--edit", "make", "test")
    assert result.out == "request 1 edited; your text: delivered\n"
    ((action, terms),) = services.gate.executed
    assert action == SendText(pane=1, text="make test")
    assert terms.correlation == "c0ffee"
    assert (await services.gate.approvals.find(1)).state == "edited"


async def test_another_text_needs_the_word_edit_and_gives_no_lasting_permit() -> None:
    services = await build_sample_services()
    assert "after --edit" in (await run_command(services, "approve", "1", "make")).err
    assert (await run_command(services, "approve", "1", "--session", "--edit", "make")).status == 2
    assert [one.state for one in await services.gate.approvals.list()] == ["open"]


async def test_a_program_edits_nothing() -> None:
    services = await build_sample_services()
    services.gate.actor = Actor(kind="robot", uid=1000, pid=9)
    assert (await run_command(services, "robot", "approve", "1", "--edit", "make")).status == 77
    assert services.gate.executed == []
