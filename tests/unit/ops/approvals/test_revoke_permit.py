from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_a_permit_is_taken_back_once() -> None:
    world = await build_sample_services()
    assert (await run_command(world, "revoke-permit", "1")).out == "permit 1 no longer holds\n"
    assert (await run_command(world, "revoke-permit", "1")).status == 2
