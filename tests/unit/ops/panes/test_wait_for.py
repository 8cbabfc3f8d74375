import asyncio
from collections.abc import Callable

import pytest

from termvisor.model.agent.state import Flags
from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import Activity
from termvisor.model.terminal.screen import Screen
from termvisor.testing.asking import Answered, ask
from termvisor.testing.world import MemoryWorld, settled, shell

PANE = PaneId(1)


@pytest.fixture
def world() -> MemoryWorld:
    world = MemoryWorld()
    world.say(world.pane(shell()).id, "starting", "done with part 1")
    world.pane(shell("%2", session="other"))
    return world


async def _while_waiting(world: MemoryWorld, argv: tuple[str, ...], *happenings: Callable[[], object]) -> Answered:
    """Ask, and once it waits, let things happen one after the other."""
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(ask(world, "robot", "wait-for", *argv))
        await world.clock.until_asleep()
        for happen in happenings:
            assert not asked.done()
            happen()
            await settled()
        assert asked.done()
    return asked.result()


async def test_it_looks_back_first(world: MemoryWorld) -> None:
    data = (await ask(world, "robot", "wait-for", "1", "done with")).envelope["data"]
    assert (data["outcome"], data["line"]["number"], data["cursor"], data["waited_secs"]) == ("matched", 2, "1:2", 0)
    assert world.fleet.settled == 1


async def test_it_waits_for_what_comes(world: MemoryWorld) -> None:
    answered = await _while_waiting(
        world,
        ("1", "all green"),
        lambda: world.say(PaneId(2), "all green, elsewhere"),
        lambda: world.say(PANE, "not yet"),
        lambda: world.say(PANE, "all green", "and more"),
    )
    assert answered.envelope["data"]["line"]["text"] == "all green"
    assert (answered.envelope["data"]["cursor"], answered.status) == ("1:4", 0)


async def test_an_unfinished_line_counts(world: MemoryWorld) -> None:
    answered = await _while_waiting(world, ("1", "Password:"), lambda: world.begin(PANE, "Password: "))
    assert (answered.envelope["data"]["line"], answered.envelope["data"]["pending"]) == (None, "Password: ")


async def test_from_a_cursor_on_only_what_follows_counts(world: MemoryWorld) -> None:
    answered = await _while_waiting(world, ("1", "done", "--since", "1:2"), lambda: world.say(PANE, "done again"))
    assert answered.envelope["data"]["line"]["number"] == 3


async def test_without_a_tail_nothing_old_counts(world: MemoryWorld) -> None:
    answered = await _while_waiting(world, ("1", "done", "--tail", "0"), lambda: world.say(PANE, "done again"))
    assert answered.envelope["data"]["line"]["number"] == 3


async def test_the_timeout_is_an_error_with_a_cursor_to_read_on_from(world: MemoryWorld) -> None:
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(ask(world, "robot", "wait-for", "1", "never", "--timeout-secs", "5"))
        await world.clock.until_asleep()
        await world.clock.advance(5)
    answered = asked.result()
    assert (answered.status, answered.envelope["error"]["code"]) == (124, "timeout")
    assert answered.envelope["error"]["details"] == {"pane": 1, "cursor": "1:2"}


async def test_other_panes_do_not_stretch_the_time(world: MemoryWorld) -> None:
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(ask(world, "robot", "wait-for", "1", "never", "--timeout-secs", "5"))
        await world.clock.until_asleep()
        await world.clock.advance(3)
        world.say(PaneId(2), "noise")
        await settled()
        await world.clock.advance(2)
    assert asked.result().status == 124


async def test_a_timeout_of_zero_only_looks(world: MemoryWorld) -> None:
    assert (await ask(world, "wait-for", "1", "part 1", "--timeout-secs", "0")).out == "done with part 1\n"
    assert (await ask(world, "wait-for", "1", "part 2", "--timeout-secs", "0")).status == 124


async def test_a_pane_that_ends_first_is_not_waited_for(world: MemoryWorld) -> None:
    answered = await _while_waiting(world, ("1", "never"), lambda: world.end(PANE))
    assert (answered.status, answered.envelope["error"]["code"]) == (4, "pane_not_found")
    assert "ended before" in answered.envelope["error"]["message"]


async def test_last_words_are_heard_before_the_end(world: MemoryWorld) -> None:
    def say_and_end() -> None:
        world.say(PANE, "last words")
        world.end(PANE)

    answered = await _while_waiting(world, ("1", "last words"), say_and_end)
    assert answered.envelope["data"]["outcome"] == "matched"


async def test_the_end_itself_can_be_waited_for(world: MemoryWorld) -> None:
    answered = await _while_waiting(world, ("1", "--gone"), lambda: world.end(PANE))
    assert answered.envelope["data"]["outcome"] == "gone"
    again = await ask(world, "wait-for", "1", "--gone")
    assert (again.out, again.status) == ("pane 1 ended\n", 0)


async def test_a_program_that_died_in_its_pane_has_ended_too(world: MemoryWorld) -> None:
    def die() -> None:
        world.change(PANE, facts=shell(dead=True, dead_status=3))
        world.happen("pane_died", PANE)

    answered = await _while_waiting(world, ("1", "--gone"), die)
    assert (answered.envelope["data"]["outcome"], answered.envelope["data"]["exit_status"]) == ("died", 3)


async def test_quiet_is_the_time_since_the_last_output(world: MemoryWorld) -> None:
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(ask(world, "robot", "wait-for", "1", "--quiet-for", "10"))
        await world.clock.until_asleep()
        await world.clock.advance(9)
        world.say(PANE, "still here")
        await settled()
        await world.clock.advance(9)
        assert not asked.done()
        await world.clock.advance(1)
    data = asked.result().envelope["data"]
    assert (data["outcome"], data["waited_secs"]) == ("quiet", 19.0)


async def test_a_pane_that_is_quiet_already_is_not_waited_for(world: MemoryWorld) -> None:
    await world.clock.advance(60)
    assert (await ask(world, "wait-for", "1", "--quiet-for", "10")).out == "pane 1 is quiet\n"


async def test_a_regular_expression_matches_within_a_line(world: MemoryWorld) -> None:
    data = (await ask(world, "robot", "wait-for", "1", "--regex", r"part \d+$")).envelope["data"]
    assert data["line"]["text"] == "done with part 1"


@pytest.mark.parametrize(
    "argv",
    [
        ("1",),
        ("1", "x", "--gone"),
        ("1", "--gone", "--quiet-for", "3"),
        ("1", "--regex", "a("),
        ("1", "x", "--since", "9:9"),
    ],
)
async def test_a_wrong_call_is_refused(world: MemoryWorld, argv: tuple[str, ...]) -> None:
    assert (await ask(world, "robot", "wait-for", *argv)).status == 2


async def test_a_secret_in_the_matching_line_is_not_told(world: MemoryWorld) -> None:
    token = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    world.say(PANE, f"token {token}")
    assert token not in (await ask(world, "robot", "wait-for", "1", "token")).out


async def test_what_a_repainting_program_shows_counts_too(world: MemoryWorld) -> None:
    world.change(PANE, activity=Activity(kind="alt_screen"))
    rows = ("working", "Do you want to proceed?")
    world.fleet.screens[PANE] = Screen(pane=PANE, rows=rows, width=80, height=2)
    answered = await ask(world, "robot", "wait-for", "1", "want to")
    assert answered.envelope["data"]["shown"] == "Do you want to proceed?"
    assert (await ask(world, "wait-for", "1", "want to")).out == "Do you want to proceed?\n"


async def test_the_command_that_runs_is_waited_for(world: MemoryWorld) -> None:
    world.start(PANE, "make")
    answered = await _while_waiting(
        world, ("1", "--command-finished"), lambda: world.say(PANE, "output"), lambda: world.finish(PANE, 2)
    )
    data = answered.envelope["data"]
    assert (data["outcome"], data["command"]["command"], data["command"]["exit_code"]) == ("finished", "make", 2)
    assert (answered.status, data["cursor"], data["exit_status"]) == (0, "1:4", None)


async def test_what_was_typed_after_a_cursor_is_found_though_it_is_over(world: MemoryWorld) -> None:
    world.start(PANE, "ls")
    world.finish(PANE, 0)
    assert (
        await ask(world, "wait-for", "1", "--command-finished", "--since", "1:2")
    ).out == "ls: status 0 after 0.0s\n"


async def test_what_has_not_started_yet_is_waited_for(world: MemoryWorld) -> None:
    answered = await _while_waiting(
        world,
        ("1", "--command-finished", "--since", "1:2"),
        lambda: world.start(PANE, "make"),
        lambda: world.finish(PANE, 0),
    )
    assert answered.envelope["data"]["command"]["command"] == "make"


async def test_a_command_whose_end_was_not_told_is_lost(world: MemoryWorld) -> None:
    world.start(PANE, "ssh far")
    answered = await _while_waiting(world, ("1", "--command-finished"), lambda: world.finish(PANE, None))
    assert (answered.envelope["data"]["outcome"], answered.status) == ("lost", 0)


async def test_a_command_in_a_pane_that_ends_is_not_waited_for(world: MemoryWorld) -> None:
    world.start(PANE, "make")
    answered = await _while_waiting(world, ("1", "--command-finished"), lambda: world.end(PANE))
    assert (answered.status, answered.envelope["error"]["code"]) == (4, "pane_not_found")
    assert "before a command was over" in answered.envelope["error"]["message"]


async def test_a_shell_that_tells_no_commands_is_named_as_the_reason(world: MemoryWorld) -> None:
    answered = await ask(world, "robot", "wait-for", "1", "--command-finished", "--timeout-secs", "0")
    assert answered.status == 124
    assert "visor setup shell" in answered.envelope["hint"]


async def test_it_waits_for_the_state_of_an_agent(world: MemoryWorld) -> None:
    world.agents.begin(PANE)
    world.agents.become(PANE, "running")
    answered = await _while_waiting(
        world,
        ("1", "--state", "waiting,idle"),
        lambda: world.agents.become(PANE, "running", flags=Flags(subtasks=1)),
        lambda: world.agents.become(PANE, "waiting_approval"),
    )
    data = answered.envelope["data"]
    assert (data["outcome"], data["agent"]["state"], answered.status) == ("state", "waiting_approval", 0)


async def test_a_state_that_holds_already_needs_no_wait(world: MemoryWorld) -> None:
    world.agents.begin(PANE)
    world.agents.become(PANE, "idle")
    assert (await ask(world, "wait-for", "1", "--state", "idle")).out == "pane 1 claude_code: idle\n"


async def test_an_agent_that_ends_first_ends_the_wait(world: MemoryWorld) -> None:
    world.agents.begin(PANE)
    answered = await _while_waiting(world, ("1", "--state", "idle"), lambda: world.agents.leave(PANE))
    assert (answered.status, answered.envelope["error"]["code"]) == (4, "agent_not_found")


async def test_a_pane_that_ends_ends_the_wait_for_its_agent(world: MemoryWorld) -> None:
    world.agents.begin(PANE)
    answered = await _while_waiting(world, ("1", "--state", "idle"), lambda: world.end(PANE))
    assert answered.envelope["error"]["message"] == "pane 1 ended before its agent was idle"
