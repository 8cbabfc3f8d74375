from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_a_run_goes_on() -> None:
    world = await build_sample_services()
    assert (await run_command(world, "-q", "workflow", "resume", "3")).out == "3\n"
    assert world.workflows.received_changes[-1].kind == "resume"
