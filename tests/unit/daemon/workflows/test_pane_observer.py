"""Observations of panes for workflows."""

import asyncio

import pytest

from termvisor.daemon.workflows.pane_observer import PaneObserver
from termvisor.errors import NotFound
from termvisor.model.agent.session import AgentSession
from termvisor.model.ids import RuntimeId
from termvisor.testing import sample_agents
from termvisor.testing.fake_clock import let_tasks_run
from termvisor.testing.fake_services import FakeServices, build_shell_facts


async def test_a_pane_with_a_shell_is_observed():
    services = FakeServices()
    pane = services.add_pane(build_shell_facts()).id
    services.print_lines(pane, "one", "two")
    await services.clock.advance(3)
    seen = await PaneObserver(services, services.clock).observe(pane, 1)
    assert (seen.line, seen.lines, seen.quiet_for, seen.agent) == (2, ("two",), 3.0, "")
    assert (seen.state, seen.runtime, seen.command) == ("unknown", None, "bash")


async def test_a_pane_with_an_agent_is_observed():
    services = FakeServices()
    pane = services.add_pane(build_shell_facts()).id
    await sample_agents.add_sample_agents(services, pane)
    seen = await PaneObserver(services, services.clock).observe(pane, 0)
    assert seen.agent
    assert seen.runtime is not None


async def test_a_pane_without_agent_has_its_last_session(monkeypatch):
    services = FakeServices()
    pane = services.add_pane(build_shell_facts()).id
    held = AgentSession(
        runtime=RuntimeId(4),
        pane=pane,
        agent="codex",
        external_id="abc",
        started_at=1,
        ended_at=2,
        resume=("codex", "resume", "abc"),
    )

    async def sessions(**_only) -> list[AgentSession]:
        return [held]

    monkeypatch.setattr(services.agents, "list_sessions", sessions)
    seen = await PaneObserver(services, services.clock).observe(pane, 0)
    assert (seen.agent, seen.session, seen.resume) == ("", "abc", ("codex", "resume", "abc"))


async def test_a_closed_pane_cannot_be_observed():
    services = FakeServices()
    pane = services.add_pane(build_shell_facts()).id
    services.remove_pane(pane)
    with pytest.raises(NotFound):
        await PaneObserver(services, services.clock).observe(pane, 0)


async def test_only_changes_of_the_watched_pane_end_the_wait():
    services = FakeServices()
    pane, other = services.add_pane(build_shell_facts()).id, services.add_pane(build_shell_facts("%2")).id
    with PaneObserver(services, services.clock).watch_pane(pane) as stir:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(stir.wait_for_change(60))
            await let_tasks_run()
            services.print_lines(other, "x")
            await let_tasks_run()
            assert not task.done()
            services.print_lines(pane, "x")
            await let_tasks_run()
            assert task.done()
        async with asyncio.TaskGroup() as group:
            group.create_task(stir.wait_for_change(5))
            await let_tasks_run()
            await services.clock.advance(6)
