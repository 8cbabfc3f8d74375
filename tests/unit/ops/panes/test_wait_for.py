import asyncio
from collections.abc import Callable

import pytest

from termvisor.model.agent.state import AgentFlags
from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import PaneActivity
from termvisor.model.terminal.screen import Screen
from termvisor.testing.fake_services import FakeServices, build_shell_facts, let_tasks_run
from termvisor.testing.operation_calls import CommandResult, run_command

PANE = PaneId(1)


@pytest.fixture
def world() -> FakeServices:
    world = FakeServices()
    world.print_lines(world.add_pane(build_shell_facts()).id, "starting", "done with part 1")
    world.add_pane(build_shell_facts("%2", session="other"))
    return world


async def _while_waiting(
    world: FakeServices, argv: tuple[str, ...], *happenings: Callable[[], object]
) -> CommandResult:
    """Ask, and once it waits, let things happen one after the other."""
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(run_command(world, "robot", "wait-for", *argv))
        await world.clock.wait_until_asleep()
        for happen in happenings:
            assert not asked.done()
            happen()
            await let_tasks_run()
        assert asked.done()
    return asked.result()


async def test_it_looks_back_first(world: FakeServices) -> None:
    data = (await run_command(world, "robot", "wait-for", "1", "done with")).envelope["data"]
    assert (data["outcome"], data["line"]["number"], data["cursor"], data["waited_secs"]) == ("matched", 2, "1:2", 0)
    assert world.panes.settle_count == 1


async def test_it_waits_for_what_comes(world: FakeServices) -> None:
    answered = await _while_waiting(
        world,
        ("1", "all green"),
        lambda: world.print_lines(PaneId(2), "all green, elsewhere"),
        lambda: world.print_lines(PANE, "not yet"),
        lambda: world.print_lines(PANE, "all green", "and more"),
    )
    assert answered.envelope["data"]["line"]["text"] == "all green"
    assert (answered.envelope["data"]["cursor"], answered.status) == ("1:4", 0)


async def test_an_unfinished_line_counts(world: FakeServices) -> None:
    answered = await _while_waiting(world, ("1", "Password:"), lambda: world.print_partial_line(PANE, "Password: "))
    assert (answered.envelope["data"]["line"], answered.envelope["data"]["pending"]) == (None, "Password: ")


async def test_from_a_cursor_on_only_what_follows_counts(world: FakeServices) -> None:
    answered = await _while_waiting(
        world, ("1", "done", "--since", "1:2"), lambda: world.print_lines(PANE, "done again")
    )
    assert answered.envelope["data"]["line"]["number"] == 3


async def test_without_a_tail_nothing_old_counts(world: FakeServices) -> None:
    answered = await _while_waiting(world, ("1", "done", "--tail", "0"), lambda: world.print_lines(PANE, "done again"))
    assert answered.envelope["data"]["line"]["number"] == 3


async def test_the_timeout_is_an_error_with_a_cursor_to_read_on_from(world: FakeServices) -> None:
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(run_command(world, "robot", "wait-for", "1", "never", "--timeout-secs", "5"))
        await world.clock.wait_until_asleep()
        await world.clock.advance(5)
    answered = asked.result()
    assert (answered.status, answered.envelope["error"]["code"]) == (124, "timeout")
    assert answered.envelope["error"]["details"] == {"pane": 1, "cursor": "1:2"}


async def test_other_panes_do_not_stretch_the_time(world: FakeServices) -> None:
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(run_command(world, "robot", "wait-for", "1", "never", "--timeout-secs", "5"))
        await world.clock.wait_until_asleep()
        await world.clock.advance(3)
        world.print_lines(PaneId(2), "noise")
        await let_tasks_run()
        await world.clock.advance(2)
    assert asked.result().status == 124


async def test_a_timeout_of_zero_only_looks(world: FakeServices) -> None:
    assert (await run_command(world, "wait-for", "1", "part 1", "--timeout-secs", "0")).out == "done with part 1\n"
    assert (await run_command(world, "wait-for", "1", "part 2", "--timeout-secs", "0")).status == 124


async def test_a_pane_that_ends_first_is_not_waited_for(world: FakeServices) -> None:
    answered = await _while_waiting(world, ("1", "never"), lambda: world.remove_pane(PANE))
    assert (answered.status, answered.envelope["error"]["code"]) == (4, "pane_not_found")
    assert "ended before" in answered.envelope["error"]["message"]


async def test_last_words_are_heard_before_the_end(world: FakeServices) -> None:
    def say_and_end() -> None:
        world.print_lines(PANE, "last words")
        world.remove_pane(PANE)

    answered = await _while_waiting(world, ("1", "last words"), say_and_end)
    assert answered.envelope["data"]["outcome"] == "matched"


async def test_the_end_itself_can_be_waited_for(world: FakeServices) -> None:
    answered = await _while_waiting(world, ("1", "--gone"), lambda: world.remove_pane(PANE))
    assert answered.envelope["data"]["outcome"] == "gone"
    again = await run_command(world, "wait-for", "1", "--gone")
    assert (again.out, again.status) == ("pane 1 ended\n", 0)


async def test_a_program_that_died_in_its_pane_has_ended_too(world: FakeServices) -> None:
    def die() -> None:
        world.change_pane(PANE, facts=build_shell_facts(dead=True, dead_status=3))
        world.add_event("pane_died", PANE)

    answered = await _while_waiting(world, ("1", "--gone"), die)
    assert (answered.envelope["data"]["outcome"], answered.envelope["data"]["exit_status"]) == ("died", 3)


async def test_quiet_is_the_time_since_the_last_output(world: FakeServices) -> None:
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(run_command(world, "robot", "wait-for", "1", "--quiet-for", "10"))
        await world.clock.wait_until_asleep()
        await world.clock.advance(9)
        world.print_lines(PANE, "still here")
        await let_tasks_run()
        await world.clock.advance(9)
        assert not asked.done()
        await world.clock.advance(1)
    data = asked.result().envelope["data"]
    assert (data["outcome"], data["waited_secs"]) == ("quiet", 19.0)


async def test_a_pane_that_is_quiet_already_is_not_waited_for(world: FakeServices) -> None:
    await world.clock.advance(60)
    assert (await run_command(world, "wait-for", "1", "--quiet-for", "10")).out == "pane 1 is quiet\n"


async def test_a_regular_expression_matches_within_a_line(world: FakeServices) -> None:
    data = (await run_command(world, "robot", "wait-for", "1", "--regex", r"part \d+$")).envelope["data"]
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
async def test_a_wrong_call_is_refused(world: FakeServices, argv: tuple[str, ...]) -> None:
    assert (await run_command(world, "robot", "wait-for", *argv)).status == 2


async def test_a_secret_in_the_matching_line_is_not_told(world: FakeServices) -> None:
    token = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    world.print_lines(PANE, f"token {token}")
    assert token not in (await run_command(world, "robot", "wait-for", "1", "token")).out


async def test_what_a_repainting_program_shows_counts_too(world: FakeServices) -> None:
    world.change_pane(PANE, activity=PaneActivity(kind="alt_screen"))
    rows = ("working", "Do you want to proceed?")
    world.panes.screens[PANE] = Screen(pane=PANE, rows=rows, width=80, height=2)
    answered = await run_command(world, "robot", "wait-for", "1", "want to")
    assert answered.envelope["data"]["shown"] == "Do you want to proceed?"
    assert (await run_command(world, "wait-for", "1", "want to")).out == "Do you want to proceed?\n"


async def test_the_command_that_runs_is_waited_for(world: FakeServices) -> None:
    world.start_command(PANE, "make")
    answered = await _while_waiting(
        world,
        ("1", "--command-finished"),
        lambda: world.print_lines(PANE, "output"),
        lambda: world.finish_command(PANE, 2),
    )
    data = answered.envelope["data"]
    assert (data["outcome"], data["command"]["command"], data["command"]["exit_code"]) == ("finished", "make", 2)
    assert (answered.status, data["cursor"], data["exit_status"]) == (0, "1:4", None)


async def test_what_was_typed_after_a_cursor_is_found_though_it_is_over(world: FakeServices) -> None:
    world.start_command(PANE, "ls")
    world.finish_command(PANE, 0)
    assert (
        await run_command(world, "wait-for", "1", "--command-finished", "--since", "1:2")
    ).out == "ls: status 0 after 0.0s\n"


async def test_what_has_not_started_yet_is_waited_for(world: FakeServices) -> None:
    answered = await _while_waiting(
        world,
        ("1", "--command-finished", "--since", "1:2"),
        lambda: world.start_command(PANE, "make"),
        lambda: world.finish_command(PANE, 0),
    )
    assert answered.envelope["data"]["command"]["command"] == "make"


async def test_a_command_whose_end_was_not_told_is_lost(world: FakeServices) -> None:
    world.start_command(PANE, "ssh far")
    answered = await _while_waiting(world, ("1", "--command-finished"), lambda: world.finish_command(PANE, None))
    assert (answered.envelope["data"]["outcome"], answered.status) == ("lost", 0)


async def test_a_command_in_a_pane_that_ends_is_not_waited_for(world: FakeServices) -> None:
    world.start_command(PANE, "make")
    answered = await _while_waiting(world, ("1", "--command-finished"), lambda: world.remove_pane(PANE))
    assert (answered.status, answered.envelope["error"]["code"]) == (4, "pane_not_found")
    assert "before a command was over" in answered.envelope["error"]["message"]


async def test_a_shell_that_tells_no_commands_is_named_as_the_reason(world: FakeServices) -> None:
    answered = await run_command(world, "robot", "wait-for", "1", "--command-finished", "--timeout-secs", "0")
    assert answered.status == 124
    assert "visor setup shell" in answered.envelope["hint"]


async def test_it_waits_for_the_state_of_an_agent(world: FakeServices) -> None:
    world.agents.start_agent(PANE)
    world.agents.set_state(PANE, "running")
    answered = await _while_waiting(
        world,
        ("1", "--state", "waiting,idle"),
        lambda: world.agents.set_state(PANE, "running", flags=AgentFlags(subtasks=1)),
        lambda: world.agents.set_state(PANE, "waiting_approval"),
    )
    data = answered.envelope["data"]
    assert (data["outcome"], data["agent"]["state"], answered.status) == ("state", "waiting_approval", 0)


async def test_a_state_that_holds_already_needs_no_wait(world: FakeServices) -> None:
    world.agents.start_agent(PANE)
    world.agents.set_state(PANE, "idle")
    assert (await run_command(world, "wait-for", "1", "--state", "idle")).out == "pane 1 claude_code: idle\n"


async def test_an_agent_that_ends_first_ends_the_wait(world: FakeServices) -> None:
    world.agents.start_agent(PANE)
    answered = await _while_waiting(world, ("1", "--state", "idle"), lambda: world.agents.end_agent(PANE))
    assert (answered.status, answered.envelope["error"]["code"]) == (4, "agent_not_found")


async def test_a_pane_that_ends_ends_the_wait_for_its_agent(world: FakeServices) -> None:
    world.agents.start_agent(PANE)
    answered = await _while_waiting(world, ("1", "--state", "idle"), lambda: world.remove_pane(PANE))
    assert answered.envelope["error"]["message"] == "pane 1 ended before its agent was idle"
