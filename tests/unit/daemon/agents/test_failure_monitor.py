"""Agents in trouble are told of once: a crash, a standstill, a request that came to nobody."""

import pytest
from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.daemon.agents.failure_monitor import FailureMonitor
from termvisor.model.action.action import Actor
from termvisor.model.action.approval import Approval
from termvisor.model.action.audit import AuditEntry
from termvisor.model.agent.transcript_message import TranscriptMessage
from termvisor.model.detection.detection import Detection, DetectionFilter
from termvisor.model.event import Event
from termvisor.model.ids import MuxPaneId, RuntimeId
from termvisor.model.terminal.pane import PaneFacts, PaneInstance
from tests.unit.agents.tracking.tracker_scene import ONE
from tests.unit.conftest import SERVER
from tests.unit.daemon.services.test_agents import live, world  # noqa: F401 - a fixture

ME = Actor(kind="agent", uid=1, pid=1)


@pytest.fixture
async def minding(world):  # noqa: F811
    return FailureMonitor(world._components)


async def told(world, kind: str):  # noqa: F811
    return await world.detections.list(DetectionFilter(type=kind))


def end_of(pane, at: int, reason: str | None = None) -> Event:
    data = {"runtime": ONE, "agent": "toy", "end_reason": reason}
    return Event(id=1, at=at, kind="agent_ended", pane=pane, data=data)


async def test_an_end_in_the_middle_of_work_is_a_crash_told_once(world, minding):  # noqa: F811
    pane, now = await live(world, "running"), world.clock.now()
    for one in (minding, minding, FailureMonitor(world._components)):
        await one.check_exit(end_of(pane, now))
    (found,) = await told(world, "agent.crashed")
    assert (found.pane, found.runtime, found.severity) == (pane, ONE, "error")
    assert found.captures["why"] == "it ended in the middle of its work"
    assert (found.can_start_workflow, found.seen_again) == (True, 1)


async def test_an_agent_that_said_goodbye_did_not_crash(world, minding):  # noqa: F811
    pane, now = await live(world, "running"), world.clock.now()
    hint = Detection(at=now, type="session.resume_hint", rule="toy.resume_hint", pane=pane, source="stream", key="h")
    await world._components.store.detections.add([hint])
    await minding.check_exit(end_of(pane, now))
    assert await told(world, "agent.crashed") == []


async def test_words_of_the_shell_make_the_end_of_a_resting_agent_a_crash(world, minding):  # noqa: F811
    pane, now = await live(world, "idle"), world.clock.now()
    await minding.check_exit(end_of(pane, now, "completed"))
    assert await told(world, "agent.crashed") == []
    killed = Detection(at=now, type="process.killed", rule="shell.process.killed", pane=pane, source="stream", key="k")
    await world._components.store.detections.add([killed])
    await minding.check_exit(end_of(pane, now, "completed"))
    assert [one.captures["why"] for one in await told(world, "agent.crashed")] == ["it was killed or crashed"]


async def test_an_agent_whose_pane_is_gone_did_not_crash(world, minding):  # noqa: F811
    pane, now = await live(world, "running"), world.clock.now()
    await world._components.store.panes.mark_gone(pane, now)
    await minding.check_exit(end_of(pane, now))
    assert await told(world, "agent.crashed") == []


async def state_of(world, pane):  # noqa: F811
    return (await world.agents.list_views())[pane].state


async def test_one_that_works_and_shows_nothing_new_is_stuck_once_a_stretch(world, minding):  # noqa: F811
    pane = await live(world, "running")
    state, now = await state_of(world, pane), world.clock.now()
    await minding.check_agent(pane, state, now - 500 * NS)
    assert await told(world, "agent.stuck") == []
    for _ in range(3):
        await minding.check_agent(pane, state, now - 720 * NS)
    (found,) = await told(world, "agent.stuck")
    assert (found.captures, found.runtime) == ({"minutes": "12"}, ONE)


async def test_one_that_says_something_moves(world, minding):  # noqa: F811
    pane = await live(world, "running")
    state, now = await state_of(world, pane), world.clock.now()
    said = TranscriptMessage(
        pane=pane, runtime=RuntimeId(1), agent="toy", session="s", role="assistant", key="k", at=now, text="hm"
    )
    await world._components.store.utterances.add([said])
    await minding.check_agent(pane, state, now - 7200 * NS)
    assert await told(world, "agent.stuck") == []


async def test_zero_switches_it_off_and_other_states_are_not_stuck(world, minding):  # noqa: F811
    pane = await live(world, "running")
    state, long_ago = await state_of(world, pane), world.clock.now() - 9000 * NS
    await minding.check_agent(pane, replace(state, value="idle"), long_ago)
    world._components.settings = replace(world._components.settings, workflow_unstick_after=0.0)
    await minding.check_agent(pane, state, long_ago)
    assert await told(world, "agent.stuck") == []


async def test_a_request_is_unanswered_when_nobody_was_asked_in_its_stretch(world, minding):  # noqa: F811
    pane = await live(world, "waiting_approval")
    other, _ = await world._components.store.panes.find_or_add(
        PaneInstance(SERVER, MuxPaneId("%2")), PaneFacts(mux_id=MuxPaneId("%2"), pid=8), world.clock.now()
    )
    state, now, store = await state_of(world, pane), world.clock.now(), world._components.store
    await minding.check_agent(pane, state, now - 30 * NS)
    asked = Approval(
        at=now - 50 * NS,
        expires_at=now - 10 * NS,
        correlation="c",
        action_hash="h",
        kind="answer_agent",
        actor=ME,
        risk="process",
        pane=pane,
    )
    entry = AuditEntry(at=now, correlation="c", stage="asked", kind="answer_agent", actor=ME)
    await store.approvals.ask(asked, entry)
    await store.approvals.expire(now)
    await minding.check_agent(pane, state, now - 61 * NS)
    assert await told(world, "agent.unanswered") == [], "somebody was, and said nothing"
    await minding.check_agent(other, replace(state, pane=other), now - 61 * NS)
    (found,) = await told(world, "agent.unanswered")
    assert (found.pane, found.severity) == (other, "warning")
