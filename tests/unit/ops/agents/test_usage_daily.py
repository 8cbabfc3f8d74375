from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_agents import ASKING_PANE
from termvisor.testing.sample_services import build_sample_services

DAY_S = 86_400


async def test_open_sessions_count_today_and_ended_ones_on_their_last_day() -> None:
    services = await build_sample_services(op="usage_daily")
    services.agents.end_agent(ASKING_PANE)
    await services.clock.advance(2 * DAY_S)
    items = (await run_command(services, "robot", "usage-daily")).envelope["data"]["items"]
    assert [(item["day"], item["sessions"]) for item in items] == [("2026-01-01", 1), ("2026-01-03", 3)]
    assert items[0]["by_agent"] == {"claude_code": 48_211}


async def test_unknown_tokens_are_not_zero() -> None:
    services = await build_sample_services(op="usage_daily")
    items = (await run_command(services, "robot", "usage-daily", "--agent", "codex")).envelope["data"]["items"]
    assert (items[0]["tokens"], items[0]["cost"], items[0]["unknown"]) == (None, None, 1)


async def test_sessions_before_the_days_are_left_out() -> None:
    services = await build_sample_services(op="usage_daily")
    services.agents.end_agent(ASKING_PANE)
    await services.clock.advance(2 * DAY_S)
    data = (await run_command(services, "robot", "usage-daily", "-n", "2")).envelope["data"]
    assert [item["day"] for item in data["items"]] == ["2026-01-03"]


async def test_days_without_sessions_say_so() -> None:
    assert (await run_command(await build_sample_services(), "usage-daily")).out == "No sessions in these days.\n"
