from msgspec.structs import replace

from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_known_quota_is_kept_and_a_tracker_problem_is_reported() -> None:
    services = await build_sample_services()
    services.settings = replace(services.settings, account_tracker="/none/caut")
    data = (await run_command(services, "robot", "accounts", "refresh", "--service", "openai")).envelope["data"]
    assert (data["told"], [one["name"] for one in data["items"]]) == ("/none/caut is not installed", ["work"])
    shown = (await run_command(services, "accounts", "refresh")).out
    assert "warning: not refreshed: /none/caut is not installed" in shown
