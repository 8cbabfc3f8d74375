from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_sizes_and_the_last_runs_are_told() -> None:
    out = (await run_command(await build_sample_services(), "db", "status")).out
    assert "12.4 MB, writable" in out
    assert "merged    42s ago, 12 pages wait" in out
    assert "raw log   340 MB" in out
    assert "2 segments of 1 pane" in out


async def test_before_anything_was_done_there_is_nothing_to_list() -> None:
    world = await build_sample_services()
    world.maintenance.maintenance_steps.clear()
    data = (await run_command(world, "robot", "db", "status")).envelope["data"]
    assert (data["maintenance"], data["checkpoint_age_secs"]) == ([], 42.0)
    assert "OPERATION" not in (await run_command(world, "db", "status")).out
