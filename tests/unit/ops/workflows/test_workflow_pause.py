from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_a_run_is_held() -> None:
    world = await build_sample_services()
    assert "is paused" in (await run_command(world, "workflow", "pause", "3", "--why", "mine")).out
    assert (world.workflows.received_changes[-1].kind, world.workflows.received_changes[-1].word) == ("pause", "mine")
