from termvisor.testing.asking import ask, lively


async def test_a_mute_ends_once() -> None:
    world = await lively(op="events_unmute")
    assert (await ask(world, "robot", "events", "unmute", "1")).envelope["data"] == {"mute_id": 1}
    assert (await ask(world, "robot", "events", "unmute", "1")).envelope["error"]["code"] == "event_not_found"
