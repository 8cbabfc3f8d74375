from termvisor.testing.asking import ask, lively


async def test_a_no_closes_the_question() -> None:
    world = await lively()
    assert "question 1 is denied" in (await ask(world, "deny", "1")).out
    assert await world.door.inbox.list() == []
