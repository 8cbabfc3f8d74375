from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_what_is_known_stays_and_the_trackers_problem_is_reported() -> None:
    services = await build_sample_services()
    services.accounts.refresh_problem = "caut is not installed"
    data = (await run_command(services, "robot", "accounts", "refresh", "--service", "openai")).envelope["data"]
    assert (data["told"], [one["name"] for one in data["items"]]) == ("caut is not installed", ["work"])
    assert "warning: not refreshed: caut is not installed" in (await run_command(services, "accounts", "refresh")).out
