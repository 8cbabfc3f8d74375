import asyncio

from termvisor.model.action.action import Spawn
from termvisor.model.action.outcome import Outcome
from termvisor.testing.asking import ask, lively
from termvisor.testing.world import shell


async def test_a_program_starts_with_its_arguments_as_they_stand() -> None:
    world = await lively()
    await ask(world, "spawn", "--session", "work", "--env", "A=b=c", "--cwd", "/srv", "--", "make", "two words", "-x")
    assert world.door.done[0][0] == Spawn(
        where="window", session="work", command=("make", "two words", "-x"), cwd="/srv", env={"A": "b=c"}
    )


async def test_the_new_pane_is_named_once_it_was_seen() -> None:
    world = await lively()
    world.door.outcome = Outcome(status="done", mux_pane="%7", pid=1000)
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(ask(world, "robot", "spawn", "--", "top"))
        await world.clock.until_asleep()
        pane = world.pane(shell("%7"))
        world.happen("pane_appeared", pane.id)
    assert asking.result().envelope["data"]["new"]["id"] == pane.id


async def test_a_new_pane_needs_another_one_and_a_variable_its_value() -> None:
    world = await lively()
    assert "--beside" in (await ask(world, "spawn", "--where", "pane")).err
    assert "NAME=value" in (await ask(world, "spawn", "--env", "A")).err
    assert world.door.done == []
