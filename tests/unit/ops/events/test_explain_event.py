from termvisor.testing.operation_calls import build_sample_services, run_command

OP = "explain_event"


async def test_an_event_is_explained_with_its_rule_its_place_and_its_fate() -> None:
    told = (await run_command(await build_sample_services(op=OP), "explain", "event:6")).out
    assert "Found by shell.test_failed: A test failed." in told
    assert ">      2  error: 1 test failed" in told
    assert "Nobody has seen to it; no workflow would." in told


async def test_what_the_agent_told_itself_is_explained_too() -> None:
    told = (await run_command(await build_sample_services(op=OP), "explain", "event:5")).out
    assert "signal.usage_limited: The agent itself said that it reached a usage limit." in told
    assert "Handled by workflow:handle_usage_limits (run 3)" in told


async def test_robots_may_ask_by_either_name() -> None:
    world = await build_sample_services(op=OP)
    one = (await run_command(world, "robot", "explain", "event:6")).envelope["data"]
    other = (await run_command(world, "robot", "explain-event", "6")).envelope["data"]
    assert one == other
    assert one["rule"]["is_in_force"] is True


async def test_an_event_that_no_rule_found_cannot_be_explained() -> None:
    answered = await run_command(await build_sample_services(op=OP), "explain", "event:1")
    assert (answered.status, "is not a detection" in answered.err) == (4, True)
