"""The tracker publishes only what is stored, and restores it."""

import asyncio

import pytest

from termvisor.agents.tracking import tracker
from termvisor.clock import NS
from termvisor.model.agent.agent_process import AgentExited, PaneClosed
from termvisor.model.agent.signal import ProcessHint
from termvisor.model.ids import PaneId, RuntimeId
from termvisor.pipeline.rule_matcher import AgentPresence
from tests.unit.agents.tracking.tracker_scene import ONE, build_agent_started, build_signal


async def test_a_change_is_published_after_it_is_stored(tracker_scene):
    with tracker_scene.subscribe_to_changes() as changes, tracker_scene.events.subscribe() as events:
        await tracker_scene.submit(
            build_agent_started(tracker_scene.now()), build_signal(tracker_scene.now(1), "running")
        )
        (change,) = changes.drain()
        assert (change.before, change.after.value, change.version) == (None, "running", 1)
        (signal,) = (await tracker_scene.store.agent_facts.find_signals([change.after.evidence])).values()
        assert signal.state == "running"
        assert [event.kind for event in events.drain()] == await tracker_scene.list_event_kinds() == ["agent_began"]
        await tracker_scene.submit(build_signal(tracker_scene.now(2), "completed"))
        (change,) = changes.drain()
        assert (change.before.value, change.after.value, change.version) == ("running", "completed", 2)
    (event,) = await tracker_scene.store.events.list(kind="state_changed")
    assert event.data == {
        "runtime": 1,
        "agent": "toy",
        "before": "running",
        "after": "completed",
        "tier": "deterministic",
        "source": "osc",
        "evidence": 3,
        "confidence": "high",
        "version": 2,
    }


async def test_a_repeated_state_is_not_a_change(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()), build_signal(tracker_scene.now(1), "running"))
    with tracker_scene.subscribe_to_changes() as changes:
        await tracker_scene.submit(build_signal(tracker_scene.now(2), "running"))
        assert changes.drain() == []
    assert tracker_scene.states[0].evidence == 3


async def test_time_alone_makes_a_completed_agent_idle(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()), build_signal(tracker_scene.now(), "completed"))
    with tracker_scene.subscribe_to_changes() as changes:
        await tracker_scene.pass_time(121)
        (change,) = [one for one in changes.drain() if one.after.value == "idle"]
    assert change.before.value == "completed"


async def test_the_tracker_waits_for_deadlines(tracker_scene, monkeypatch):
    """The state changes when the clock passes the deadline, without a new fact."""
    monkeypatch.setattr(tracker, "_MAX_WAIT_S", 0.01)
    await tracker_scene.submit(build_agent_started(tracker_scene.now()), build_signal(tracker_scene.now(), "completed"))
    with tracker_scene.subscribe_to_changes() as changes:
        await tracker_scene.clock.advance(121)
        async with asyncio.timeout(10):
            assert (await changes.get()).after.value == "idle"


async def test_an_exit_is_published_and_closes_the_session(tracker_scene):
    await tracker_scene.submit(
        build_agent_started(tracker_scene.now()), build_signal(tracker_scene.now(1), "idle", session="abc")
    )
    with tracker_scene.subscribe_to_changes() as changes:
        await tracker_scene.submit(AgentExited(at=tracker_scene.now(2), runtime=ONE))
        (change,) = changes.drain()
    assert (change.after.presence, change.after.reason) == ("unmanaged", "no_signal")
    (session,) = await tracker_scene.store.sessions.list()
    assert (session.external_id, session.end_reason, session.ended_at) == ("abc", "manual", tracker_scene.now(2))
    assert tracker_scene.tracker.agents_by_pane == {}


async def test_a_closed_pane_ends_its_agent(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()), build_signal(tracker_scene.now(1), "running"))
    await tracker_scene.submit(PaneClosed(at=tracker_scene.now(2), pane=PaneId(1)))
    (session,) = await tracker_scene.store.sessions.list()
    assert session.end_reason == "pane_gone"
    (event,) = await tracker_scene.store.events.list(kind="agent_ended")
    assert event.data["end_reason"] == "pane_gone"


async def test_agent_process_ids_are_never_reused(tracker_scene):
    assert tracker_scene.tracker.allocate_agent_process_id() == 1
    await tracker_scene.submit(
        build_agent_started(tracker_scene.now()), AgentExited(at=tracker_scene.now(1), runtime=ONE)
    )
    await tracker_scene.restart()
    assert tracker_scene.tracker.allocate_agent_process_id() == 2


async def test_a_killed_tracker_restores_states_versions_and_sessions(tracker_scene):
    await tracker_scene.submit(
        build_agent_started(tracker_scene.now()), build_signal(tracker_scene.now(1), "running", session="abc")
    )
    await tracker_scene.submit(
        build_agent_started(tracker_scene.now(), 2, pane=2),
        build_signal(tracker_scene.now(2), "error", runtime=RuntimeId(2)),
    )
    before, versions = (
        tracker_scene.states,
        {number: one.version for number, one in tracker_scene.tracker.state.projections.items()},
    )
    sessions = dict(tracker_scene.tracker.state.sessions.open_sessions)
    await tracker_scene.restart()
    await tracker_scene.submit(build_signal(tracker_scene.now(3), None, kind="heartbeat"))
    assert [(one.value, one.evidence, one.since) for one in tracker_scene.states] == [
        (one.value, one.evidence, one.since) for one in before
    ]
    assert {number: one.version for number, one in tracker_scene.tracker.state.projections.items()} == versions
    assert tracker_scene.tracker.state.sessions.open_sessions == sessions


async def test_the_previous_and_the_current_agent_of_a_pane_are_known(tracker_scene):
    first, second = build_agent_started(tracker_scene.now()), build_agent_started(tracker_scene.now(9), 2, pid=0)
    version = {"version": "2.1"}
    await tracker_scene.submit(first, build_signal(tracker_scene.now(1), "running", payload=version))
    assert tracker_scene.tracker.list_presences(PaneId(2)) == []
    await tracker_scene.clock.advance(5)
    await tracker_scene.submit(AgentExited(at=tracker_scene.now(), runtime=ONE, exit_code=0))
    ended = AgentPresence(
        agent_process=ONE, agent="toy", version="2.1", began_at=first.at, ended_at=tracker_scene.now(), has_process=True
    )
    assert tracker_scene.tracker.list_presences(PaneId(1)) == [ended]
    await tracker_scene.submit(second)
    current = AgentPresence(agent_process=RuntimeId(2), agent="toy", began_at=second.at, has_process=False)
    assert tracker_scene.tracker.list_presences(PaneId(1)) == [ended, current]
    await tracker_scene.restart()
    restored = AgentPresence(agent_process=ONE, agent="toy", began_at=first.at, ended_at=ended.ended_at)
    assert tracker_scene.tracker.list_presences(PaneId(1)) == [restored, current]


async def test_an_agent_is_announced_once_it_is_known(tracker_scene):
    arrived = []

    def record_arrival(pane):
        arrived.append((pane, tracker_scene.tracker.find_agent_in_pane(pane).id, tracker_scene.tracker.state.last_fact))

    tracker_scene.tracker.on_agent_arrived = record_arrival
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    await tracker_scene.submit(build_agent_started(tracker_scene.now(), 2, pane=2))
    await tracker_scene.submit(build_agent_started(tracker_scene.now(), 3))
    assert arrived == [(1, 1, 1), (2, 2, 2), (1, 3, 3)]


@pytest.mark.parametrize(("future_s", "shifted_s"), [(10, 10), (11, 0)])
async def test_a_fact_just_ahead_of_the_clock_is_no_clock_change(tracker_scene, monkeypatch, future_s, shifted_s):
    at = tracker_scene.now(future_s)
    await tracker_scene.submit(build_agent_started(at), build_signal(at, "running"))
    await tracker_scene.restart()
    await tracker_scene.tracker.wait_stored()
    assert tracker_scene.states[0].since == tracker_scene.now(shifted_s)


async def test_every_stored_batch_is_published_to_monitors(tracker_scene):
    with tracker_scene.tracker.outcomes.subscribe() as outcomes:
        await tracker_scene.submit(build_agent_started(tracker_scene.now()))
        assert [outcome.state.last_fact for outcome in outcomes.drain()] == [1]
    assert tracker_scene.tracker.get_projection(ONE).version == 1
    assert tracker_scene.tracker.get_version(RuntimeId(9)) == ""


@pytest.mark.parametrize("facts", [0, 1, 2])
async def test_unknown_agent_processes_are_ended(tracker_scene, facts):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()), build_signal(tracker_scene.now(1), "running"))
    await tracker_scene.kill()
    await tracker_scene.store._db.write(
        lambda connection: connection.execute("DELETE FROM fact WHERE id > ?", (facts,)).fetchall()
    )
    await tracker_scene.open()
    await tracker_scene.submit(build_signal(tracker_scene.now(3), None, kind="heartbeat"))
    assert (len(tracker_scene.tracker.agents_by_pane), len(await tracker_scene.store.sessions.list_open())) == (
        (0, 0) if facts == 0 else (1, 1)
    )


async def test_a_clock_set_back_delays_nothing(tracker_scene, monkeypatch):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()), build_signal(tracker_scene.now(), "running"))
    now = tracker_scene.clock.now
    monkeypatch.setattr(tracker_scene.clock, "now", lambda: now() - 7200 * NS)
    await tracker_scene.submit(build_signal(tracker_scene.now(1), "completed"))
    assert tracker_scene.states[0].value == "completed"
    await tracker_scene.pass_time(122)
    assert tracker_scene.states[0].value == "idle"


async def test_a_clock_set_back_without_a_daemon_is_detected(tracker_scene, monkeypatch):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()), build_signal(tracker_scene.now(), "completed"))
    now = tracker_scene.clock.now
    await tracker_scene.kill()
    monkeypatch.setattr(tracker_scene.clock, "now", lambda: now() - 7200 * NS)
    await tracker_scene.open()
    await tracker_scene.tracker.wait_stored()
    assert tracker_scene.states[0].since == tracker_scene.now()
    await tracker_scene.pass_time(122)
    assert tracker_scene.states[0].value == "idle"


async def test_rules_for_a_version_get_the_version_of_the_running_agent(tracker_scene):
    await tracker_scene.submit(
        build_agent_started(tracker_scene.now()),
        build_signal(tracker_scene.now(1), "running", payload={"session": "s", "version": "2.1.0"}),
    )
    (presence,) = tracker_scene.tracker.list_presences(PaneId(1))
    assert tracker_scene.tracker.get_version(ONE) == presence.version == "2.1.0"
    assert (presence.agent_process, presence.agent, presence.began_at, presence.ended_at, presence.has_process) == (
        ONE, "toy", tracker_scene.now(), None, True,
    )  # fmt: skip


async def test_a_session_without_an_owner_changes_the_state_of_its_candidates_at_once(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()), build_signal(tracker_scene.now(1), "running"))
    hint = ProcessHint(cwd="/home/ada", is_doubtful=True)
    with tracker_scene.subscribe_to_changes() as changes:
        await tracker_scene.submit(
            build_signal(tracker_scene.now(2), "error", source="notes", runtime=None, hint=hint, session="a")
        )
        assert [(change.after.runtime, change.after.flags.ambiguous) for change in changes.drain()] == [(ONE, True)]
