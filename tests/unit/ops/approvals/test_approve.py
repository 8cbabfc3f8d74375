from termvisor.model.action.action import Actor, SendText
from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_a_yes_is_heard_once() -> None:
    world = await build_sample_services()
    assert "question 1 is allowed" in (await run_command(world, "approve", "1")).out
    assert (await run_command(world, "approve", "1")).status == 75


async def test_a_yes_may_last() -> None:
    world = await build_sample_services()
    await run_command(world, "approve", "1", "--session")
    assert world.gate.approvals.lasting_answers == [1]


async def test_a_question_that_does_not_exist_is_a_mistake() -> None:
    assert (await run_command(await build_sample_services(), "approve", "99")).status == 2
    assert (await run_command(await build_sample_services(), "approve", "99", "--edit", "make")).status == 2


async def test_another_text_is_typed_instead_and_the_question_is_closed() -> None:
    world = await build_sample_services()
    answered = await run_command(world, "approve", "1", "--edit", "make", "test")
    assert answered.out == "question 1 is edited; your text: delivered\n"
    ((action, terms),) = world.gate.executed
    assert action == SendText(pane=1, text="make test")
    assert terms.correlation == "c0ffee"
    assert (await world.gate.approvals.find(1)).state == "edited"


async def test_another_text_needs_the_word_edit_and_gives_no_lasting_permit() -> None:
    world = await build_sample_services()
    assert "behind --edit" in (await run_command(world, "approve", "1", "make")).err
    assert (await run_command(world, "approve", "1", "--session", "--edit", "make")).status == 2
    assert [one.state for one in await world.gate.approvals.list()] == ["open"]


async def test_a_program_edits_nothing() -> None:
    world = await build_sample_services()
    world.gate.actor = Actor(kind="robot", uid=1000, pid=9)
    assert (await run_command(world, "robot", "approve", "1", "--edit", "make")).status == 77
    assert world.gate.executed == []
