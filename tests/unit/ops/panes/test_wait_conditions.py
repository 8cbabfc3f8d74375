"""Conditions of `wait_for`: which command is awaited, text on a full screen, the state of an agent."""

import pytest

from termvisor.errors import AgentNotFound, BadRequest, MuxError
from termvisor.model.ids import PaneId
from termvisor.model.terminal.command import ShellCommand
from termvisor.model.terminal.pane import PaneActivity, PaneView
from termvisor.model.terminal.screen import Screen
from termvisor.ops.panes._wait_conditions import (
    AwaitedCommand,
    CommandCondition,
    ConditionResult,
    ScreenTextMatcher,
    StateCondition,
    choose_awaited_command,
    explain_missed_command,
)
from termvisor.testing.fake_services import FakeServices, build_shell_facts

PANE = PaneId(1)


@pytest.fixture
def services() -> FakeServices:
    services = FakeServices()
    services.add_pane(build_shell_facts())
    services.start_command(PANE, "first")
    services.finish_command(PANE, 0)
    return services


def pane(services: FakeServices) -> PaneView:
    return services.views[0]


async def find_ended_command(services: FakeServices, target: AwaitedCommand) -> ShellCommand | None:
    result = await CommandCondition(services, target).check(pane(services))
    return None if result is None else result.command


async def test_the_running_command_is_awaited(services: FakeServices) -> None:
    running = services.start_command(PANE, "make")
    target = await choose_awaited_command(services, pane(services), None)
    assert (target, await find_ended_command(services, target)) == (AwaitedCommand(running.id, 0), None)
    ended = services.finish_command(PANE, 3)
    assert await find_ended_command(services, target) == ended


async def test_at_a_prompt_the_next_command_is_awaited(services: FakeServices) -> None:
    target = await choose_awaited_command(services, pane(services), None)
    assert await find_ended_command(services, target) is None
    services.start_command(PANE, "next")
    assert await find_ended_command(services, target) is None
    ended = services.finish_command(PANE, 0)
    services.start_command(PANE, "and another")
    assert await find_ended_command(services, target) == ended


async def test_at_the_prompt_of_an_inner_shell_the_outer_command_is_not_awaited(services: FakeServices) -> None:
    services.start_command(PANE, "bash")
    services.change_pane(PANE, activity=PaneActivity(kind="prompt"))
    target = await choose_awaited_command(services, pane(services), None)
    assert target.id is None


async def test_in_an_editor_the_editor_is_awaited(services: FakeServices) -> None:
    running = services.start_command(PANE, "vi")
    services.change_pane(PANE, activity=PaneActivity(kind="alt_screen"))
    assert (await choose_awaited_command(services, pane(services), None)).id == running.id


async def test_a_command_that_ended_after_the_cursor_is_found(services: FakeServices) -> None:
    cursor = pane(services).lines
    services.start_command(PANE, "typed after")
    ended = services.finish_command(PANE, 1)
    assert await find_ended_command(services, await choose_awaited_command(services, pane(services), cursor)) == ended


async def test_a_command_that_started_before_the_cursor_does_not_count(services: FakeServices) -> None:
    services.start_command(PANE, "long and silent")
    cursor = pane(services).lines
    target = await choose_awaited_command(services, pane(services), cursor)
    services.finish_command(PANE, 0)
    assert await find_ended_command(services, target) is None
    services.start_command(PANE, "typed ahead")
    ended = services.finish_command(PANE, 0)
    assert await find_ended_command(services, target) == ended


async def test_a_command_without_reported_end_is_lost(services: FakeServices) -> None:
    services.start_command(PANE, "ssh far")
    target = await choose_awaited_command(services, pane(services), None)
    lost = services.finish_command(PANE, None)
    assert await CommandCondition(services, target).check(pane(services)) == ConditionResult(
        outcome="lost", command=lost
    )


async def test_the_hint_of_a_timeout_explains_the_missing_command(services: FakeServices) -> None:
    assert "--since" in await explain_missed_command(services, pane(services))
    services.start_command(PANE, "long")
    assert "still running" in await explain_missed_command(services, pane(services))
    unmarked = FakeServices()
    assert "visor setup shell" in await explain_missed_command(unmarked, unmarked.add_pane(build_shell_facts()))


@pytest.fixture
def full_screen_services() -> FakeServices:
    services = FakeServices()
    services.add_pane(build_shell_facts())
    show_screen(services, "working", "ready")
    return services


def show_screen(services: FakeServices, *rows: str) -> None:
    services.screens[PANE] = Screen(pane=PANE, rows=rows, width=80, height=24)


def set_alternate_screen(services: FakeServices) -> PaneView:
    return services.change_pane(PANE, activity=PaneActivity(kind="alt_screen"))


def build_matcher(services: FakeServices) -> ScreenTextMatcher:
    return ScreenTextMatcher(services, lambda text: "ready" in text)


async def test_the_first_matching_row_is_found(full_screen_services: FakeServices) -> None:
    assert await build_matcher(full_screen_services).find_row(set_alternate_screen(full_screen_services)) == "ready"
    show_screen(full_screen_services, "working")
    assert await build_matcher(full_screen_services).find_row(set_alternate_screen(full_screen_services)) is None


async def test_a_pane_without_alternate_screen_or_closed_is_not_captured(full_screen_services: FakeServices) -> None:
    assert await build_matcher(full_screen_services).find_row(full_screen_services.views[0]) is None
    set_alternate_screen(full_screen_services)
    full_screen_services.remove_pane(PANE)
    assert await build_matcher(full_screen_services).find_row(full_screen_services.views[0]) is None


async def test_the_next_capture_is_delayed(full_screen_services: FakeServices) -> None:
    screen = build_matcher(full_screen_services)
    show_screen(full_screen_services, "working")
    assert await screen.find_row(set_alternate_screen(full_screen_services)) is None
    assert screen.get_retry_delay() == 3600.0
    show_screen(full_screen_services, "ready")
    assert await screen.find_row(set_alternate_screen(full_screen_services)) is None
    assert 0 < screen.get_retry_delay() <= 0.25
    await full_screen_services.clock.advance(screen.get_retry_delay())
    assert await screen.find_row(set_alternate_screen(full_screen_services)) == "ready"


async def test_a_pane_that_closes_during_the_capture_is_no_error(full_screen_services: FakeServices) -> None:
    async def raise_mux_error(_pane: PaneId, *, escapes: bool = False) -> Screen:
        raise MuxError("pane %1 is gone")

    full_screen_services.panes.capture_screen = raise_mux_error  # type: ignore[method-assign]
    assert await build_matcher(full_screen_services).find_row(set_alternate_screen(full_screen_services)) is None


async def test_an_agent_that_starts_later_is_awaited() -> None:
    services = FakeServices()
    pane, condition = services.add_pane(build_shell_facts()), StateCondition(services, "idle,waiting")
    assert await condition.check(pane) is None
    services.agents.start_agent(pane.id)
    assert await condition.check(pane) is None
    view = services.agents.set_state(pane.id, "waiting_input")
    assert await condition.check(pane) == ConditionResult(outcome="state", view=view)


async def test_an_agent_that_exits_or_is_replaced_ends_the_wait() -> None:
    services = FakeServices()
    pane, condition = services.add_pane(build_shell_facts()), StateCondition(services, "idle")
    services.agents.start_agent(pane.id)
    assert await condition.check(pane) is None
    services.agents.end_agent(pane.id)
    with pytest.raises(AgentNotFound, match="exited before it was idle"):
        await condition.check(pane)
    services.agents.start_agent(pane.id)
    services.agents.set_state(pane.id, "idle")
    with pytest.raises(AgentNotFound):
        await condition.check(pane)


def test_an_unknown_state_is_rejected_at_once() -> None:
    with pytest.raises(BadRequest):
        StateCondition(FakeServices(), "busy")
