from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_the_account_is_named_and_explain_lists_every_account() -> None:
    services = await build_sample_services()
    assert (await run_command(services, "accounts", "pick", "openai")).out.strip() == "openai/work: 80 % remaining"
    data = (await run_command(services, "robot", "accounts", "pick", "openai", "--explain")).envelope["data"]
    assert (data["account"], data["candidates"][0]["verdict"]) == ("openai/work", "chosen")


async def test_no_qualifying_account_is_an_exit_status() -> None:
    answer = await run_command(await build_sample_services(), "accounts", "pick", "google")
    assert (answer.status, answer.out.strip()) == (1, "there is no account of google")
