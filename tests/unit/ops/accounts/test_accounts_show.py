from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_every_limit_is_reported() -> None:
    shown = (await run_command(await build_sample_services(), "accounts", "show", "work")).out
    assert "openai/work" in shown
    assert "5h" in shown
    assert "80 %" in shown


async def test_an_account_without_limits_is_reported() -> None:
    assert (
        "No usage limits known"
        in (await run_command(await build_sample_services(), "accounts", "show", "anthropic/second")).out
    )


async def test_an_unknown_account_is_not_found() -> None:
    answer = await run_command(await build_sample_services(), "robot", "accounts", "show", "none")
    assert answer.envelope["error"]["code"] == "not_found" or "not found" in answer.envelope["error"]["message"]
