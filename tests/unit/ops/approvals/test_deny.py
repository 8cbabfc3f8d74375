from termvisor.testing.asking import ask, lively


async def test_a_no_closes_the_question() -> None:
    world = await lively()
    assert "question 1 is denied" in (await ask(world, "deny", "1")).out
    assert await world.door.inbox.list() == []


async def test_it_may_say_that_it_is_done_in_other_words() -> None:
    assert "question 1 is edited" in (await ask(await lively(), "deny", "1", "--edited")).out
