import asyncio

from termvisor.model.action.action import Spawn
from termvisor.model.action.outcome import Outcome
from termvisor.testing.fake_services import build_shell_facts
from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_a_program_starts_with_its_arguments_as_they_stand() -> None:
    world = await build_sample_services()
    await run_command(
        world, "spawn", "--session", "work", "--env", "A=b=c", "--cwd", "/srv", "--", "make", "two words", "-x"
    )
    assert world.gate.executed[0][0] == Spawn(
        where="window", session="work", command=("make", "two words", "-x"), cwd="/srv", env={"A": "b=c"}
    )


async def test_the_new_pane_is_named_once_it_was_seen() -> None:
    world = await build_sample_services()
    world.gate.outcome = Outcome(status="done", mux_pane="%7", pid=1000)
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(run_command(world, "robot", "spawn", "--", "top"))
        await world.clock.wait_until_asleep()
        pane = world.add_pane(build_shell_facts("%7"))
        world.add_event("pane_appeared", pane.id)
    assert asking.result().envelope["data"]["new"]["id"] == pane.id


async def test_a_new_pane_needs_another_one_and_a_variable_its_value() -> None:
    world = await build_sample_services()
    assert "--beside" in (await run_command(world, "spawn", "--where", "pane")).err
    assert "NAME=value" in (await run_command(world, "spawn", "--env", "A")).err
    assert world.gate.executed == []
