from termvisor.model.action.action import Actor, SendText
from termvisor.testing.asking import ask, lively


async def test_a_yes_is_heard_once() -> None:
    world = await lively()
    assert "question 1 is allowed" in (await ask(world, "approve", "1")).out
    assert (await ask(world, "approve", "1")).status == 75


async def test_a_yes_may_last() -> None:
    world = await lively()
    await ask(world, "approve", "1", "--session")
    assert world.door.inbox.lasting == [1]


async def test_a_question_that_does_not_exist_is_a_mistake() -> None:
    assert (await ask(await lively(), "approve", "99")).status == 2
    assert (await ask(await lively(), "approve", "99", "--edit", "make")).status == 2


async def test_another_text_is_typed_instead_and_the_question_is_closed() -> None:
    world = await lively()
    answered = await ask(world, "approve", "1", "--edit", "make", "test")
    assert answered.out == "question 1 is edited; your text: delivered\n"
    ((action, terms),) = world.door.done
    assert action == SendText(pane=1, text="make test")
    assert terms.correlation == "c0ffee"
    assert (await world.door.inbox.one(1)).state == "edited"


async def test_another_text_needs_the_word_edit_and_gives_no_lasting_permit() -> None:
    world = await lively()
    assert "behind --edit" in (await ask(world, "approve", "1", "make")).err
    assert (await ask(world, "approve", "1", "--session", "--edit", "make")).status == 2
    assert [one.state for one in await world.door.inbox.list()] == ["open"]


async def test_a_program_edits_nothing() -> None:
    world = await lively()
    world.door.actor = Actor(kind="robot", uid=1000, pid=9)
    assert (await ask(world, "robot", "approve", "1", "--edit", "make")).status == 77
    assert world.door.done == []
