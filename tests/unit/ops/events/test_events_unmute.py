from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_a_mute_ends_once() -> None:
    world = await build_sample_services(op="events_unmute")
    assert (await run_command(world, "robot", "events", "unmute", "1")).envelope["data"] == {"mute_id": 1}
    assert (await run_command(world, "robot", "events", "unmute", "1")).envelope["error"]["code"] == "event_not_found"
