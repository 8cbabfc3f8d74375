from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_a_reservation_ends_once() -> None:
    services = await build_sample_services()
    assert (await run_command(services, "release", "1")).out == "reservation 1 released\n"
    assert (await run_command(services, "release", "1")).status == 2
