from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_a_reservation_ends_once() -> None:
    world = await build_sample_services()
    assert (await run_command(world, "release", "1")).out == "reservation 1 has ended\n"
    assert (await run_command(world, "release", "1")).status == 2
