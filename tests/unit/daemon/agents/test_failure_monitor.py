"""Crashed, stuck and unanswered agents are reported once."""

import pytest
from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.daemon.agents.failure_monitor import FailureMonitor
from termvisor.model.action.action import Actor
from termvisor.model.action.approval import Approval
from termvisor.model.action.audit import AuditEntry
from termvisor.model.agent.session import TranscriptMessage
from termvisor.model.detection.detection import Detection, DetectionFilter
from termvisor.model.event import Event
from termvisor.model.ids import MuxPaneId, RuntimeId
from termvisor.model.terminal.pane import PaneFacts, PaneInstance
from tests.unit.agents.tracking.tracker_scene import ONE
from tests.unit.conftest import SERVER
from tests.unit.daemon.services.test_agents import services, start_agent  # noqa: F401 - a fixture

ME = Actor(kind="agent", uid=1, pid=1)


@pytest.fixture
async def monitor(services):  # noqa: F811
    return FailureMonitor(services._components)


async def list_detections(services, kind: str):  # noqa: F811
    return await services.detections.list(DetectionFilter(type=kind))


def build_agent_ended(pane, at: int, reason: str | None = None) -> Event:
    data = {"runtime": ONE, "agent": "toy", "end_reason": reason}
    return Event(id=1, at=at, kind="agent_ended", pane=pane, data=data)


async def test_an_exit_while_running_is_reported_once_as_a_crash(services, monitor):  # noqa: F811
    pane, now = await start_agent(services, "running"), services.clock.now()
    for one in (monitor, monitor, FailureMonitor(services._components)):
        await one.check_exit(build_agent_ended(pane, now))
    (found,) = await list_detections(services, "agent.crashed")
    assert (found.pane, found.runtime, found.severity) == (pane, ONE, "error")
    assert found.captures["why"] == "it exited while it was working"
    assert (found.can_start_workflow, found.seen_again) == (True, 1)


async def test_a_clean_exit_is_not_a_crash(services, monitor):  # noqa: F811
    pane, now = await start_agent(services, "running"), services.clock.now()
    hint = Detection(at=now, type="session.resume_hint", rule="toy.resume_hint", pane=pane, source="stream", key="h")
    await services._components.store.detections.add([hint])
    await monitor.check_exit(build_agent_ended(pane, now))
    assert await list_detections(services, "agent.crashed") == []


async def test_a_process_killed_detection_makes_the_exit_of_an_idle_agent_a_crash(services, monitor):  # noqa: F811
    pane, now = await start_agent(services, "idle"), services.clock.now()
    await monitor.check_exit(build_agent_ended(pane, now, "completed"))
    assert await list_detections(services, "agent.crashed") == []
    killed = Detection(at=now, type="process.killed", rule="shell.process.killed", pane=pane, source="stream", key="k")
    await services._components.store.detections.add([killed])
    await monitor.check_exit(build_agent_ended(pane, now, "completed"))
    assert [one.captures["why"] for one in await list_detections(services, "agent.crashed")] == [
        "it was killed or crashed"
    ]


async def test_an_agent_whose_pane_is_gone_did_not_crash(services, monitor):  # noqa: F811
    pane, now = await start_agent(services, "running"), services.clock.now()
    await services._components.store.panes.mark_gone(pane, now)
    await monitor.check_exit(build_agent_ended(pane, now))
    assert await list_detections(services, "agent.crashed") == []


async def read_state(services, pane):  # noqa: F811
    return (await services.agents.list_views())[pane].state


async def test_a_running_agent_without_new_output_is_reported_stuck_once(services, monitor):  # noqa: F811
    pane = await start_agent(services, "running")
    state, now = await read_state(services, pane), services.clock.now()
    await monitor.check_agent(pane, state, now - 500 * NS)
    assert await list_detections(services, "agent.stuck") == []
    for _ in range(3):
        await monitor.check_agent(pane, state, now - 720 * NS)
    (found,) = await list_detections(services, "agent.stuck")
    assert (found.captures, found.runtime) == ({"minutes": "12"}, ONE)


async def test_an_agent_with_a_new_transcript_message_is_not_stuck(services, monitor):  # noqa: F811
    pane = await start_agent(services, "running")
    state, now = await read_state(services, pane), services.clock.now()
    message = TranscriptMessage(
        pane=pane, runtime=RuntimeId(1), agent="toy", session="s", role="assistant", key="k", at=now, text="hm"
    )
    await services._components.store.transcripts.add([message])
    await monitor.check_agent(pane, state, now - 7200 * NS)
    assert await list_detections(services, "agent.stuck") == []


async def test_stuck_detection_can_be_disabled_and_applies_to_running_agents_only(services, monitor):  # noqa: F811
    pane = await start_agent(services, "running")
    state, long_ago = await read_state(services, pane), services.clock.now() - 9000 * NS
    await monitor.check_agent(pane, replace(state, value="idle"), long_ago)
    services._components.settings = replace(services._components.settings, workflow_unstick_after=0.0)
    await monitor.check_agent(pane, state, long_ago)
    assert await list_detections(services, "agent.stuck") == []


async def test_a_permission_wait_without_approval_request_is_unanswered(services, monitor):  # noqa: F811
    pane = await start_agent(services, "waiting_approval")
    other, _ = await services._components.store.panes.find_or_add(
        PaneInstance(SERVER, MuxPaneId("%2")), PaneFacts(mux_id=MuxPaneId("%2"), pid=8), services.clock.now()
    )
    state, now, store = await read_state(services, pane), services.clock.now(), services._components.store
    await monitor.check_agent(pane, state, now - 30 * NS)
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
    await store.approvals.add_request(asked, entry)
    await store.approvals.expire(now)
    await monitor.check_agent(pane, state, now - 61 * NS)
    assert await list_detections(services, "agent.unanswered") == [], "a user was attached and did not answer"
    await monitor.check_agent(other, replace(state, pane=other), now - 61 * NS)
    (found,) = await list_detections(services, "agent.unanswered")
    assert (found.pane, found.severity) == (other, "warning")
