from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_what_is_known_stays_and_the_trackers_trouble_is_told() -> None:
    world = await build_sample_services()
    world.accounts.refresh_problem = "caut is not installed"
    data = (await run_command(world, "robot", "accounts", "refresh", "--service", "openai")).envelope["data"]
    assert (data["told"], [one["name"] for one in data["items"]]) == ("caut is not installed", ["work"])
    assert "as known before: caut is not installed" in (await run_command(world, "accounts", "refresh")).out
