from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_an_account_is_marked_as_in_use() -> None:
    services = await build_sample_services()
    assert "anthropic" in (await run_command(services, "accounts", "use", "second")).out
    assert (await services.accounts.list_statuses())[1].is_in_use


async def test_an_unknown_account_cannot_be_used() -> None:
    assert (
        "not found"
        in (await run_command(await build_sample_services(), "robot", "accounts", "use", "none")).envelope["error"][
            "message"
        ]
    )
