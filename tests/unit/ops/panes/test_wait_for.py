import asyncio
from collections.abc import Callable

import pytest

from termvisor.model.agent.state import AgentFlags
from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import PaneActivity
from termvisor.model.terminal.screen import Screen
from termvisor.testing.fake_clock import let_tasks_run
from termvisor.testing.fake_services import FakeServices, build_shell_facts
from termvisor.testing.operation_calls import CommandResult, run_command

PANE = PaneId(1)


@pytest.fixture
def services() -> FakeServices:
    services = FakeServices()
    services.print_lines(services.add_pane(build_shell_facts()).id, "starting", "done with part 1")
    services.add_pane(build_shell_facts("%2", session="other"))
    return services


async def _run_while_waiting(
    services: FakeServices, argv: tuple[str, ...], *actions: Callable[[], object]
) -> CommandResult:
    """Run `wait-for` and, once it waits, call the given functions one after the other."""
    async with asyncio.TaskGroup() as group:
        call = group.create_task(run_command(services, "robot", "wait-for", *argv))
        await services.clock.wait_until_asleep()
        for act in actions:
            assert not call.done()
            act()
            await let_tasks_run()
        assert call.done()
    return call.result()


async def test_past_lines_are_searched_first(services: FakeServices) -> None:
    data = (await run_command(services, "robot", "wait-for", "1", "done with")).envelope["data"]
    assert (data["outcome"], data["line"]["number"], data["cursor"], data["waited_secs"]) == ("matched", 2, "1:2", 0)
    assert services.pipeline.settle_count == 1


async def test_new_lines_are_awaited(services: FakeServices) -> None:
    result = await _run_while_waiting(
        services,
        ("1", "all green"),
        lambda: services.print_lines(PaneId(2), "all green, elsewhere"),
        lambda: services.print_lines(PANE, "not yet"),
        lambda: services.print_lines(PANE, "all green", "and more"),
    )
    assert result.envelope["data"]["line"]["text"] == "all green"
    assert (result.envelope["data"]["cursor"], result.status) == ("1:4", 0)


async def test_an_unfinished_line_counts(services: FakeServices) -> None:
    result = await _run_while_waiting(
        services, ("1", "Password:"), lambda: services.print_partial_line(PANE, "Password: ")
    )
    assert (result.envelope["data"]["line"], result.envelope["data"]["pending"]) == (None, "Password: ")


async def test_only_lines_after_the_cursor_count(services: FakeServices) -> None:
    result = await _run_while_waiting(
        services, ("1", "done", "--since", "1:2"), lambda: services.print_lines(PANE, "done again")
    )
    assert result.envelope["data"]["line"]["number"] == 3


async def test_with_tail_zero_past_lines_do_not_match(services: FakeServices) -> None:
    result = await _run_while_waiting(
        services, ("1", "done", "--tail", "0"), lambda: services.print_lines(PANE, "done again")
    )
    assert result.envelope["data"]["line"]["number"] == 3


async def test_the_timeout_is_an_error_with_a_cursor_to_continue_from(services: FakeServices) -> None:
    async with asyncio.TaskGroup() as group:
        call = group.create_task(run_command(services, "robot", "wait-for", "1", "never", "--timeout-secs", "5"))
        await services.clock.wait_until_asleep()
        await services.clock.advance(5)
    result = call.result()
    assert (result.status, result.envelope["error"]["code"]) == (124, "timeout")
    assert result.envelope["error"]["details"] == {"pane": 1, "cursor": "1:2"}


async def test_output_of_other_panes_does_not_extend_the_timeout(services: FakeServices) -> None:
    async with asyncio.TaskGroup() as group:
        call = group.create_task(run_command(services, "robot", "wait-for", "1", "never", "--timeout-secs", "5"))
        await services.clock.wait_until_asleep()
        await services.clock.advance(3)
        services.print_lines(PaneId(2), "noise")
        await let_tasks_run()
        await services.clock.advance(2)
    assert call.result().status == 124


async def test_a_timeout_of_zero_checks_only_past_lines(services: FakeServices) -> None:
    assert (await run_command(services, "wait-for", "1", "part 1", "--timeout-secs", "0")).out == "done with part 1\n"
    assert (await run_command(services, "wait-for", "1", "part 2", "--timeout-secs", "0")).status == 124


async def test_a_pane_that_closes_first_ends_the_wait(services: FakeServices) -> None:
    result = await _run_while_waiting(services, ("1", "never"), lambda: services.remove_pane(PANE))
    assert (result.status, result.envelope["error"]["code"]) == (4, "pane_not_found")
    assert "closed before" in result.envelope["error"]["message"]


async def test_the_last_lines_are_matched_before_the_pane_closes(services: FakeServices) -> None:
    def print_and_close() -> None:
        services.print_lines(PANE, "last words")
        services.remove_pane(PANE)

    result = await _run_while_waiting(services, ("1", "last words"), print_and_close)
    assert result.envelope["data"]["outcome"] == "matched"


async def test_the_end_of_a_pane_can_be_awaited(services: FakeServices) -> None:
    result = await _run_while_waiting(services, ("1", "--gone"), lambda: services.remove_pane(PANE))
    assert result.envelope["data"]["outcome"] == "gone"
    again = await run_command(services, "wait-for", "1", "--gone")
    assert (again.out, again.status) == ("pane 1 closed\n", 0)


async def test_a_dead_program_in_its_pane_counts_as_ended(services: FakeServices) -> None:
    def die() -> None:
        services.change_pane(PANE, facts=build_shell_facts(dead=True, dead_status=3))
        services.add_event("pane_died", PANE)

    result = await _run_while_waiting(services, ("1", "--gone"), die)
    assert (result.envelope["data"]["outcome"], result.envelope["data"]["exit_status"]) == ("died", 3)


async def test_quiet_is_the_time_since_the_last_output(services: FakeServices) -> None:
    async with asyncio.TaskGroup() as group:
        call = group.create_task(run_command(services, "robot", "wait-for", "1", "--quiet-for", "10"))
        await services.clock.wait_until_asleep()
        await services.clock.advance(9)
        services.print_lines(PANE, "still here")
        await let_tasks_run()
        await services.clock.advance(9)
        assert not call.done()
        await services.clock.advance(1)
    data = call.result().envelope["data"]
    assert (data["outcome"], data["waited_secs"]) == ("quiet", 19.0)


async def test_a_pane_that_is_already_quiet_returns_at_once(services: FakeServices) -> None:
    await services.clock.advance(60)
    assert (await run_command(services, "wait-for", "1", "--quiet-for", "10")).out == "pane 1 is quiet\n"


async def test_a_regular_expression_matches_within_a_line(services: FakeServices) -> None:
    data = (await run_command(services, "robot", "wait-for", "1", "--regex", r"part \d+$")).envelope["data"]
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
async def test_an_invalid_call_is_rejected(services: FakeServices, argv: tuple[str, ...]) -> None:
    assert (await run_command(services, "robot", "wait-for", *argv)).status == 2


async def test_a_secret_in_the_matching_line_is_redacted(services: FakeServices) -> None:
    token = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    services.print_lines(PANE, f"token {token}")
    assert token not in (await run_command(services, "robot", "wait-for", "1", "token")).out


async def test_rows_of_a_full_screen_program_are_matched(services: FakeServices) -> None:
    services.change_pane(PANE, activity=PaneActivity(kind="alt_screen"))
    rows = ("working", "Do you want to proceed?")
    services.screens[PANE] = Screen(pane=PANE, rows=rows, width=80, height=2)
    result = await run_command(services, "robot", "wait-for", "1", "want to")
    assert result.envelope["data"]["shown"] == "Do you want to proceed?"
    assert (await run_command(services, "wait-for", "1", "want to")).out == "Do you want to proceed?\n"


async def test_the_end_of_the_running_command_is_awaited(services: FakeServices) -> None:
    services.start_command(PANE, "make")
    result = await _run_while_waiting(
        services,
        ("1", "--command-finished"),
        lambda: services.print_lines(PANE, "output"),
        lambda: services.finish_command(PANE, 2),
    )
    data = result.envelope["data"]
    assert (data["outcome"], data["command"]["command"], data["command"]["exit_code"]) == ("finished", "make", 2)
    assert (result.status, data["cursor"], data["exit_status"]) == (0, "1:4", None)


async def test_a_command_that_ended_after_a_cursor_is_found(services: FakeServices) -> None:
    services.start_command(PANE, "ls")
    services.finish_command(PANE, 0)
    assert (
        await run_command(services, "wait-for", "1", "--command-finished", "--since", "1:2")
    ).out == "ls: status 0 after 0.0s\n"


async def test_a_command_that_has_not_started_is_awaited(services: FakeServices) -> None:
    result = await _run_while_waiting(
        services,
        ("1", "--command-finished", "--since", "1:2"),
        lambda: services.start_command(PANE, "make"),
        lambda: services.finish_command(PANE, 0),
    )
    assert result.envelope["data"]["command"]["command"] == "make"


async def test_a_command_without_reported_end_has_the_outcome_lost(services: FakeServices) -> None:
    services.start_command(PANE, "ssh far")
    result = await _run_while_waiting(
        services, ("1", "--command-finished"), lambda: services.finish_command(PANE, None)
    )
    assert (result.envelope["data"]["outcome"], result.status) == ("lost", 0)


async def test_a_pane_that_closes_ends_the_wait_for_a_command(services: FakeServices) -> None:
    services.start_command(PANE, "make")
    result = await _run_while_waiting(services, ("1", "--command-finished"), lambda: services.remove_pane(PANE))
    assert (result.status, result.envelope["error"]["code"]) == (4, "pane_not_found")
    assert "before a command finished" in result.envelope["error"]["message"]


async def test_a_timeout_names_missing_shell_integration_as_the_reason(services: FakeServices) -> None:
    result = await run_command(services, "robot", "wait-for", "1", "--command-finished", "--timeout-secs", "0")
    assert result.status == 124
    assert "visor setup shell" in result.envelope["hint"]


async def test_the_state_of_an_agent_is_awaited(services: FakeServices) -> None:
    services.agents.start_agent(PANE)
    services.agents.set_state(PANE, "running")
    result = await _run_while_waiting(
        services,
        ("1", "--state", "waiting,idle"),
        lambda: services.agents.set_state(PANE, "running", flags=AgentFlags(subtasks=1)),
        lambda: services.agents.set_state(PANE, "waiting_approval"),
    )
    data = result.envelope["data"]
    assert (data["outcome"], data["agent"]["state"], result.status) == ("state", "waiting_approval", 0)


async def test_a_state_that_is_already_reached_returns_at_once(services: FakeServices) -> None:
    services.agents.start_agent(PANE)
    services.agents.set_state(PANE, "idle")
    assert (await run_command(services, "wait-for", "1", "--state", "idle")).out == "pane 1 claude_code: idle\n"


async def test_a_state_from_before_the_send_is_not_returned(services: FakeServices) -> None:
    services.agents.start_agent(PANE)
    services.agents.set_state(PANE, "idle")
    sent_at = services.clock.now() + 1
    cursor = f"1:5.a@{sent_at:x}"
    result = await _run_while_waiting(
        services,
        ("1", "--state", "idle,completed", "--since", cursor),
        lambda: services.agents.set_state(PANE, "idle", since=sent_at - 1),
        lambda: services.agents.set_state(PANE, "running", since=sent_at + 1),
        lambda: services.agents.set_state(PANE, "completed", since=sent_at + 2),
    )
    assert (result.envelope["data"]["agent"]["state"], result.status) == ("completed", 0)
    again = await run_command(services, "wait-for", "1", "--state", "completed", "--since", cursor)
    assert again.out == "pane 1 claude_code: completed\n"
    late = await run_command(
        services, "robot", "wait-for", "1", "--state", "idle", "--since", cursor, "--timeout-secs", "0"
    )
    assert (late.status, "visor robot explain 1" in late.envelope["hint"]) == (124, True)


@pytest.mark.parametrize("cursor", ["1:5", "2:5@18a0f3c2b1d4e500", "yesterday"])
async def test_a_state_after_a_cursor_needs_the_cursor_of_a_send(services: FakeServices, cursor: str) -> None:
    result = await run_command(services, "robot", "wait-for", "1", "--state", "idle", "--since", cursor)
    assert (result.status, result.envelope["error"]["code"]) == (2, "invalid_cursor")
    assert "visor robot send" in result.envelope["hint"]


async def test_an_agent_that_ends_first_ends_the_wait(services: FakeServices) -> None:
    services.agents.start_agent(PANE)
    result = await _run_while_waiting(services, ("1", "--state", "idle"), lambda: services.agents.end_agent(PANE))
    assert (result.status, result.envelope["error"]["code"]) == (4, "agent_not_found")


async def test_a_pane_that_closes_ends_the_wait_for_its_agent(services: FakeServices) -> None:
    services.agents.start_agent(PANE)
    result = await _run_while_waiting(services, ("1", "--state", "idle"), lambda: services.remove_pane(PANE))
    assert result.envelope["error"]["message"] == "pane 1 closed before its agent was idle"
