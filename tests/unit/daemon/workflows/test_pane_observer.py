"""A pane as workflows see it."""

import asyncio

import pytest

from termvisor.daemon.workflows.pane_observer import LiveSight
from termvisor.errors import NotFound
from termvisor.model.agent.session import AgentSession
from termvisor.model.ids import RuntimeId
from termvisor.testing import crew
from termvisor.testing.world import MemoryWorld, settled, shell


async def test_what_is_seen_of_a_pane_with_a_shell():
    world = MemoryWorld()
    pane = world.pane(shell()).id
    world.say(pane, "one", "two")
    await world.clock.advance(3)
    seen = await LiveSight(world, world.clock).observe(pane, 1)
    assert (seen.line, seen.lines, seen.quiet_for, seen.agent) == (2, ("two",), 3.0, "")
    assert (seen.state, seen.runtime, seen.command) == ("unknown", None, "bash")


async def test_what_is_seen_of_a_pane_with_an_agent():
    world = MemoryWorld()
    pane = world.pane(shell()).id
    await crew.join(world, pane)
    seen = await LiveSight(world, world.clock).observe(pane, 0)
    assert seen.agent
    assert seen.runtime is not None


async def test_a_pane_whose_agent_has_left_still_knows_how_its_conversation_is_taken_up(monkeypatch):
    world = MemoryWorld()
    pane = world.pane(shell()).id
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

    monkeypatch.setattr(world.agents, "sessions", sessions)
    seen = await LiveSight(world, world.clock).observe(pane, 0)
    assert (seen.agent, seen.session, seen.resume) == ("", "abc", ("codex", "resume", "abc"))


async def test_a_pane_that_is_gone_cannot_be_seen():
    world = MemoryWorld()
    pane = world.pane(shell()).id
    world.end(pane)
    with pytest.raises(NotFound):
        await LiveSight(world, world.clock).observe(pane, 0)


async def test_only_news_of_the_pane_wakes_who_waits_for_it():
    world = MemoryWorld()
    pane, other = world.pane(shell()).id, world.pane(shell("%2")).id
    with LiveSight(world, world.clock).stir(pane) as stir:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(stir.next(60))
            await settled()
            world.say(other, "x")
            await settled()
            assert not task.done()
            world.say(pane, "x")
            await settled()
            assert task.done()
        async with asyncio.TaskGroup() as group:
            group.create_task(stir.next(5))
            await settled()
            await world.clock.advance(6)
