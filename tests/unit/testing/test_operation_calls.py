from termvisor.testing.operation_calls import OPERATION_CALLS, build_sample_services, run_command


async def test_an_answer_is_split_as_a_shell_sees_it() -> None:
    world = await build_sample_services()
    fine, wrong = await run_command(world, "panes", "-q"), await run_command(world, "nope")
    assert (bool(fine.out), fine.err, fine.status) == (True, "", 0)
    assert (wrong.out, wrong.err.startswith("visor: "), wrong.status) == ("", True, 2)


async def test_the_first_word_robot_asks_as_a_robot() -> None:
    assert (await run_command(await build_sample_services(), "robot", "version")).envelope["ok"]


async def test_in_a_lively_world_something_of_every_kind_happened() -> None:
    world = await build_sample_services()
    assert world.history.stored_lines
    assert world.history.stored_gaps
    assert world.panes.pending_lines
    assert len(await world.panes.list_panes(include_gone=True)) == 3
    assert OPERATION_CALLS
