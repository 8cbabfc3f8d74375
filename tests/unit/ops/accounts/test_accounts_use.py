from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_an_account_is_in_use_from_then_on() -> None:
    world = await build_sample_services()
    assert "anthropic" in (await run_command(world, "accounts", "use", "second")).out
    assert world.accounts.statuses[1].is_in_use


async def test_one_that_is_not_there_is_told() -> None:
    assert (
        "no account"
        in (await run_command(await build_sample_services(), "robot", "accounts", "use", "none")).envelope["error"][
            "message"
        ]
    )
