from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_a_mute_ends_once() -> None:
    services = await build_sample_services(op="events_unmute")
    assert (await run_command(services, "robot", "events", "unmute", "1")).envelope["data"] == {"mute_id": 1}
    assert (await run_command(services, "robot", "events", "unmute", "1")).envelope["error"]["code"] == "not_found"
