from termvisor.testing.asking import ask, lively


async def test_the_account_is_named_and_on_request_every_one_is_explained() -> None:
    world = await lively()
    assert (await ask(world, "accounts", "pick", "openai")).out.strip() == "openai/work: 80 % are left"
    data = (await ask(world, "robot", "accounts", "pick", "openai", "--explain")).envelope["data"]
    assert (data["account"], data["candidates"][0]["verdict"]) == ("openai/work", "chosen")


async def test_none_that_fits_is_an_exit_status() -> None:
    answer = await ask(await lively(), "accounts", "pick", "google")
    assert (answer.status, answer.out.strip()) == (1, "there is no account of google")
