from termvisor.testing.asking import ask, lively


async def test_an_account_is_in_use_from_then_on() -> None:
    world = await lively()
    assert "anthropic" in (await ask(world, "accounts", "use", "second")).out
    assert world.accounts.known[1].is_in_use


async def test_one_that_is_not_there_is_told() -> None:
    assert "no account" in (await ask(await lively(), "robot", "accounts", "use", "none")).envelope["error"]["message"]
