"""What the tracker stores, and when: batches, snapshots, positions, and a disk that is full."""

import asyncio

import msgspec

from termvisor.agents.tracking import tracker
from termvisor.errors import StorageError
from termvisor.model.agent.signal import ReadPosition
from tests.unit.agents.tracking.tracker_scene import ONE, build_agent_started, build_signal


class FullDisk:
    """The agent facts of a store that raises while `is_full`, and records the batches that it stored."""

    def __init__(self, tracker_scene, monkeypatch):
        self.is_full, self.batches, self._add = True, [], tracker_scene.store.agent_facts.add
        monkeypatch.setattr(tracker_scene.store.agent_facts, "add", self.add)

    async def add(self, batch):
        if self.is_full:
            raise StorageError("the disk is full")
        self.batches.append(batch)
        return await self._add(batch)


async def test_unstored_facts_wait_in_order_and_do_not_count(tracker_scene, monkeypatch):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    disk = FullDisk(tracker_scene, monkeypatch)
    signals = [build_signal(tracker_scene.now(second), "running") for second in (1, 2, 3)]
    with tracker_scene.subscribe_to_changes() as changes:
        tracker_scene.tracker.submit_facts(signals[:2], position=("hook", (0, 1)))
        await tracker_scene.clock.wait_until_asleep()
        tracker_scene.tracker.submit_facts(signals[2:], position=("hook", (0, 2)))
        problem = "agent facts cannot be stored: the disk is full"
        assert tracker_scene.tracker.storage_problem == problem
        assert (changes.drain(), tracker_scene.states[0].value) == ([], "unknown")
        await tracker_scene.clock.advance(2)
        await tracker_scene.clock.wait_until_asleep()
        disk.is_full = False
        await tracker_scene.clock.advance(2)
        await tracker_scene.tracker.wait_stored()
        assert [change.after.value for change in changes.drain()] == ["running"]
    assert tracker_scene.tracker.storage_problem == ""
    stored = [(number, fact.event_at) for batch in disk.batches for number, fact in batch.facts]
    assert stored == [(2, signals[0].event_at), (3, signals[1].event_at), (4, signals[2].event_at)]
    assert tracker_scene.tracker.source_positions == {"hook": (0, 2)}


async def test_a_stop_on_a_full_disk_drops_what_waits(tracker_scene, monkeypatch):
    FullDisk(tracker_scene, monkeypatch)
    position = ("hook", (0, 1))
    assert tracker_scene.tracker.submit_facts([build_agent_started(tracker_scene.now())], position=position)
    await tracker_scene.clock.wait_until_asleep()
    tracker_scene.tracker.stop()
    await tracker_scene.clock.advance(2)
    async with asyncio.timeout(10):
        await tracker_scene._task
        await tracker_scene.tracker.wait_stored()
    assert (tracker_scene.tracker.state.last_fact, tracker_scene.tracker.source_positions) == (0, {})


async def test_a_stop_before_the_start_is_stored_ends_the_tracker(tracker_scene, monkeypatch):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()), build_signal(tracker_scene.now(), "completed"))
    await tracker_scene.kill()
    await tracker_scene.clock.advance(121)
    FullDisk(tracker_scene, monkeypatch)
    await tracker_scene.open()
    await tracker_scene.clock.wait_until_asleep()
    tracker_scene.tracker.stop()
    await tracker_scene.clock.advance(2)
    async with asyncio.timeout(10):
        await tracker_scene._task


async def test_a_position_is_stored_with_the_last_batch_of_its_facts(tracker_scene, monkeypatch):
    monkeypatch.setattr(tracker, "_MAX_FACTS_PER_BATCH", 2)
    disk = FullDisk(tracker_scene, monkeypatch)
    disk.is_full = False
    facts = [build_agent_started(tracker_scene.now()), build_signal(tracker_scene.now(), "running")]
    position = ReadPosition(runtime=ONE, watch="notes", body=b"1")
    assert tracker_scene.tracker.submit_facts([*facts, build_signal(tracker_scene.now(1), "idle")], position=position)
    await tracker_scene.tracker.wait_stored()
    assert [(len(batch.facts), list(batch.bookmarks)) for batch in disk.batches] == [(2, []), (1, [position])]


async def test_a_snapshot_is_stored_after_so_many_facts(tracker_scene, monkeypatch):
    monkeypatch.setattr(tracker, "_FACTS_PER_SNAPSHOT", 2)
    disk = FullDisk(tracker_scene, monkeypatch)
    disk.is_full = False
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    for second in (1, 2, 3):
        await tracker_scene.submit(build_signal(tracker_scene.now(second), "running"))
    copies = [batch.copy for batch in disk.batches]
    assert [copy and (copy.fact, copy.at) for copy in copies] == [
        None, (2, tracker_scene.now()), None, (4, tracker_scene.now())
    ]  # fmt: skip
    assert copies[-1].value == tracker_scene.tracker.state.knowledge


async def test_a_stop_without_new_facts_stores_nothing(tracker_scene, monkeypatch):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    await tracker_scene.close()
    await tracker_scene.open()
    disk = FullDisk(tracker_scene, monkeypatch)
    disk.is_full = False
    await tracker_scene.close()
    assert disk.batches == []
    await tracker_scene.open()


async def test_facts_after_the_snapshot_are_folded_page_by_page(tracker_scene, monkeypatch):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    await tracker_scene.close()
    await tracker_scene.open()
    for second in (1, 2, 3):
        await tracker_scene.submit(build_signal(tracker_scene.now(second), "running"))
    known = tracker_scene.tracker.state.knowledge
    list_after = tracker_scene.store.agent_facts.list_after

    async def list_one_after(number):
        return (await list_after(number))[:1]

    monkeypatch.setattr(tracker_scene.store.agent_facts, "list_after", list_one_after)
    await tracker_scene.restart()
    assert (tracker_scene.tracker.state.knowledge, tracker_scene.tracker.state.last_fact) == (known, 4)
    await tracker_scene.submit(build_signal(tracker_scene.now(4), "idle"))
    assert tracker_scene.tracker.state.last_fact == 5


async def test_a_read_position_alone_is_stored_also_after_a_failed_write(tracker_scene, monkeypatch):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    disk = FullDisk(tracker_scene, monkeypatch)
    position = ReadPosition(runtime=ONE, watch="notes", body=b"17")
    assert tracker_scene.tracker.submit_facts((), position=position)
    await tracker_scene.clock.wait_until_asleep()
    disk.is_full = False
    await tracker_scene.clock.advance(2)
    await tracker_scene.tracker.wait_stored()
    assert (await tracker_scene.store.agent_facts.load_state()).bookmarks == (position,)


async def test_states_that_cannot_be_stored_at_the_start_are_stored_later(tracker_scene, monkeypatch):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()), build_signal(tracker_scene.now(), "completed"))
    await tracker_scene.kill()
    await tracker_scene.clock.advance(121)
    disk = FullDisk(tracker_scene, monkeypatch)
    await tracker_scene.open()
    await tracker_scene.clock.wait_until_asleep()
    assert "the disk is full" in tracker_scene.tracker.storage_problem
    disk.is_full = False
    await tracker_scene.clock.advance(2)
    await tracker_scene.submit(build_signal(tracker_scene.now(), None, kind="heartbeat"))
    assert (await tracker_scene.store.events.list(kind="state_changed"))[-1].data["after"] == "idle"


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
