"""The tracker publishes only what is stored, and restores it."""

import asyncio

import msgspec
import pytest

from termvisor.agents.tracking import tracker
from termvisor.clock import NS
from termvisor.errors import StorageError
from termvisor.model.agent.agent_process import AgentExited, PaneClosed
from termvisor.model.agent.signal import ProcessHint, ReadPosition
from termvisor.model.ids import PaneId, RuntimeId
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


async def test_a_stop_stores_a_snapshot(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()), build_signal(tracker_scene.now(1), "running"))
    known = tracker_scene.tracker.state.knowledge
    await tracker_scene.close()
    kept = await tracker_scene.store.agent_facts.load_state()
    assert (kept.checkpoint_fact, kept.last_fact) == (2, 2)
    assert msgspec.msgpack.decode(kept.copy, type=type(known)) == known
    await tracker_scene.open()
    assert tracker_scene.tracker.state.knowledge == known


async def test_an_unreadable_snapshot_is_ignored(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()), build_signal(tracker_scene.now(1), "running"))
    known = tracker_scene.tracker.state.knowledge
    await tracker_scene.close()
    await tracker_scene.store._db.write(
        lambda connection: connection.execute("UPDATE knowledge SET body = x'c0'").fetchall()
    )
    await tracker_scene.open()
    assert tracker_scene.tracker.state.knowledge == known


async def test_unstored_facts_wait_and_do_not_count(tracker_scene, monkeypatch):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    add, is_full = tracker_scene.store.agent_facts.add, [True]

    async def add_or_raise(batch):
        if is_full[0]:
            raise StorageError("the disk is full")
        return await add(batch)

    monkeypatch.setattr(tracker_scene.store.agent_facts, "add", add_or_raise)
    with tracker_scene.subscribe_to_changes() as changes:
        tracker_scene.tracker.submit_facts([build_signal(tracker_scene.now(1), "running")])
        await tracker_scene.clock.wait_until_asleep()
        assert "the disk is full" in tracker_scene.tracker.storage_problem
        assert (changes.drain(), tracker_scene.states[0].value) == ([], "unknown")
        is_full[0] = False
        await tracker_scene.clock.advance(2)
        await tracker_scene.tracker.wait_stored()
        assert [change.after.value for change in changes.drain()] == ["running"]
    assert tracker_scene.tracker.storage_problem == ""


async def test_a_full_buffer_refuses_all_facts(tracker_scene, monkeypatch):
    monkeypatch.setattr(tracker, "_MAX_PENDING_FACTS", 1)
    assert not tracker_scene.tracker.submit_facts(
        [build_agent_started(tracker_scene.now()), build_signal(tracker_scene.now(), "idle")]
    )
    assert (
        tracker_scene.tracker.refused_fact_count,
        tracker_scene.tracker.submit_facts([build_agent_started(tracker_scene.now())]),
    ) == (2, True)


async def test_source_positions_are_stored_with_their_facts(tracker_scene):
    tracker_scene.tracker.submit_facts([build_agent_started(tracker_scene.now())], position=("hook", (0, 512)))
    await tracker_scene.tracker.wait_stored()
    await tracker_scene.restart()
    assert tracker_scene.tracker.source_positions == {"hook": (0, 512)}


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


async def test_a_read_position_alone_is_stored_also_after_a_failed_write(tracker_scene, monkeypatch):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    add, failures = tracker_scene.store.agent_facts.add, [StorageError("the disk is full")]

    async def add_or_raise(batch):
        if failures:
            raise failures.pop()
        return await add(batch)

    monkeypatch.setattr(tracker_scene.store.agent_facts, "add", add_or_raise)
    position = ReadPosition(runtime=ONE, watch="notes", body=b"17")
    assert tracker_scene.tracker.submit_facts((), position=position)
    await tracker_scene.clock.wait_until_asleep()
    await tracker_scene.clock.advance(2)
    await tracker_scene.tracker.wait_stored()
    assert (await tracker_scene.store.agent_facts.load_state()).bookmarks == (position,)


async def test_a_session_without_an_owner_changes_the_state_of_its_candidates_at_once(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()), build_signal(tracker_scene.now(1), "running"))
    hint = ProcessHint(cwd="/home/ada", is_doubtful=True)
    with tracker_scene.subscribe_to_changes() as changes:
        await tracker_scene.submit(
            build_signal(tracker_scene.now(2), "error", source="notes", runtime=None, hint=hint, session="a")
        )
        assert [(change.after.runtime, change.after.flags.ambiguous) for change in changes.drain()] == [(ONE, True)]


async def test_states_that_cannot_be_stored_at_the_start_are_stored_later(tracker_scene, monkeypatch):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()), build_signal(tracker_scene.now(), "completed"))
    await tracker_scene.kill()
    await tracker_scene.clock.advance(121)
    add, failures = tracker_scene.store.agent_facts.add, [StorageError("the disk is full")]

    async def add_or_raise(batch):
        if failures:
            raise failures.pop()
        return await add(batch)

    monkeypatch.setattr(tracker_scene.store.agent_facts, "add", add_or_raise)
    await tracker_scene.open()
    await tracker_scene.clock.wait_until_asleep()
    assert "the disk is full" in tracker_scene.tracker.storage_problem
    await tracker_scene.clock.advance(2)
    await tracker_scene.submit(build_signal(tracker_scene.now(), None, kind="heartbeat"))
    assert (await tracker_scene.store.events.list(kind="state_changed"))[-1].data["after"] == "idle"
