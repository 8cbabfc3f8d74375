from termvisor.testing.asking import CALLS, ask, lively


async def test_an_answer_is_split_as_a_shell_sees_it() -> None:
    world = await lively()
    fine, wrong = await ask(world, "panes", "-q"), await ask(world, "nope")
    assert (bool(fine.out), fine.err, fine.status) == (True, "", 0)
    assert (wrong.out, wrong.err.startswith("visor: "), wrong.status) == ("", True, 2)


async def test_the_first_word_robot_asks_as_a_robot() -> None:
    assert (await ask(await lively(), "robot", "version")).envelope["ok"]


async def test_in_a_lively_world_something_of_every_kind_happened() -> None:
    world = await lively()
    assert world.history.stored
    assert world.history.missing
    assert world.fleet.unfinished
    assert len(await world.fleet.panes(gone=True)) == 3
    assert CALLS
