from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services

OP = "explain_event"


async def test_an_event_is_explained_with_rule_location_and_handling() -> None:
    result = (await run_command(await build_sample_services(op=OP), "explain", "event:6")).out
    assert "Rule shell.test_failed: A test failed." in result
    assert ">      2  error: 1 test failed" in result
    assert "Not handled; no workflow would handle it." in result


async def test_an_event_reported_by_the_agent_is_explained() -> None:
    result = (await run_command(await build_sample_services(op=OP), "explain", "event:5")).out
    assert "signal.usage_limited: The agent reported that it reached a usage limit." in result
    assert "Handled by workflow:handle_usage_limits (run 3)" in result


async def test_robots_may_use_either_name() -> None:
    services = await build_sample_services(op=OP)
    one = (await run_command(services, "robot", "explain", "event:6")).envelope["data"]
    other = (await run_command(services, "robot", "explain-event", "6")).envelope["data"]
    assert one == other
    assert one["rule"]["is_in_force"] is True


async def test_an_event_without_a_detection_cannot_be_explained() -> None:
    result = await run_command(await build_sample_services(op=OP), "explain", "event:1")
    assert (result.status, "is not a detection" in result.err) == (4, True)
