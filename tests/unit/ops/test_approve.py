from termvisor.testing.asking import ask, lively


async def test_a_yes_is_heard_once() -> None:
    world = await lively()
    assert "question 1 is allowed" in (await ask(world, "approve", "1")).out
    assert (await ask(world, "approve", "1")).status == 75


async def test_a_question_that_does_not_exist_is_a_mistake() -> None:
    assert (await ask(await lively(), "approve", "99")).status == 2
