from termvisor.testing.asking import ask, lively


async def test_what_is_known_stays_and_the_trackers_trouble_is_told() -> None:
    world = await lively()
    world.accounts.told = "caut is not installed"
    data = (await ask(world, "robot", "accounts", "refresh", "--service", "openai")).envelope["data"]
    assert (data["told"], [one["name"] for one in data["items"]]) == ("caut is not installed", ["work"])
    assert "as known before: caut is not installed" in (await ask(world, "accounts", "refresh")).out
