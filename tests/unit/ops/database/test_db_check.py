from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_a_whole_database_is_said_to_be_whole() -> None:
    answered = await run_command(await build_sample_services(), "db", "check", "--thorough")
    assert (answered.status, answered.out) == (0, "/home/me/.local/share/termvisor/visor.db is whole\n")


async def test_what_is_wrong_is_told_with_the_remedy_and_the_exit_status() -> None:
    world = await build_sample_services()
    world.maintenance.check_problem = "the index does not fit the text"
    answered = await run_command(world, "db", "check")
    assert answered.status == 1
    assert "the index does not fit the text" in answered.out
    assert "visor db reindex" in answered.out
    assert "visor db restore" in answered.out
    data = (await run_command(world, "robot", "db", "check")).envelope["data"]
    assert (data["is_fine"], data["wrong"]) == (False, world.maintenance.check_problem)
