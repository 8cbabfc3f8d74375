import asyncio

import pytest
from msgspec.structs import replace

from termvisor.model.action.action import Spawn
from termvisor.model.action.outcome import Outcome
from termvisor.testing.fake_services import build_shell_facts
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_arguments_of_a_program_are_passed_unchanged() -> None:
    services = await build_sample_services()
    await run_command(
        services, "spawn", "--session", "work", "--env", "A=b=c", "--cwd", "/srv", "--", "make", "two words", "-x"
    )
    assert services.gate.executed[0][0] == Spawn(
        where="window", session="work", command=("make", "two words", "-x"), cwd="/srv", env={"A": "b=c"}
    )


async def test_the_new_pane_is_returned_once_it_is_discovered() -> None:
    services = await build_sample_services()
    services.gate.outcome = Outcome(status="done", mux_pane="%7", pid=1000)
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(run_command(services, "robot", "spawn", "--", "top"))
        await services.clock.wait_until_asleep()
        pane = services.add_pane(build_shell_facts("%7"))
        services.add_event("pane_appeared", pane.id)
    assert asking.result().envelope["data"]["new"]["id"] == pane.id


async def test_spawn_requires_beside_for_a_pane_and_a_value_for_a_variable() -> None:
    services = await build_sample_services()
    assert "--beside" in (await run_command(services, "spawn", "--where", "pane")).err
    assert "NAME=value" in (await run_command(services, "spawn", "--env", "A")).err
    assert services.gate.executed == []


async def test_a_program_gets_a_terminal_of_its_own_which_takes_no_place_in_tmux() -> None:
    services = await build_sample_services()
    await run_command(services, "spawn", "--pty", "--", "top", cwd="/srv")
    assert services.gate.executed[0][0] == Spawn(where="session", place="pty", command=("top",), cwd="/srv")
    for words in (("--session", "work"), ("--server", "x"), ("--where", "window"), ("--beside", "1")):
        assert "--pty" in (await run_command(services, "spawn", "--pty", *words, "--", "top")).err
    assert len(services.gate.executed) == 1


async def test_a_program_starts_in_the_callers_folder() -> None:
    services = await build_sample_services()
    await run_command(services, "spawn", "--", "top", cwd="/srv/shop")
    await run_command(services, "spawn", "--cwd", "api", "--", "top", cwd="/srv/shop")
    assert [action.cwd for action, *_ in services.gate.executed] == ["/srv/shop", "/srv/shop/api"]


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ((), ("session", "", None)),
        (("--session", "work"), ("window", "work", None)),
        (("--session", "ci"), ("session", "ci", None)),
        (("--beside", "1"), ("window", "", 1)),
        (("--where", "session", "--session", "work"), ("session", "work", None)),
        (("--server", "build"), ("session", "", None)),
    ],
)
async def test_a_program_gets_a_window_of_a_known_session_else_a_new_session(words, place) -> None:
    services = await build_sample_services()
    await run_command(services, "spawn", *words, "--", "top")
    action = services.gate.executed[0][0]
    assert (action.where, action.session, action.beside) == place


async def test_a_program_started_from_a_pane_gets_a_window_of_its_session() -> None:
    services = await build_sample_services()
    own = services.add_pane(build_shell_facts("%8", session="mine"))
    services.bind_caller(replace(services.gate.actor, pane=own.id))
    await run_command(services, "spawn", "--", "top")
    await run_command(services, "spawn", "--server", "build", "--", "top")
    actions = [action for action, *_ in services.gate.executed]
    assert [(action.where, action.beside) for action in actions] == [("window", own.id), ("session", None)]
