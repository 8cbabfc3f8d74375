"""The one who knows: what is told was stored, and what was stored is known again."""

import asyncio

import msgspec
import pytest

from termvisor.agents.tracking import tracker as module
from termvisor.clock import NS
from termvisor.errors import StorageError
from termvisor.model.agent.agent_process import PaneClosed, RuntimeEnded
from termvisor.model.ids import PaneId, RuntimeId
from tests.unit.agents.tracking.house import ONE, began, says


async def test_a_change_is_told_after_it_is_stored_with_its_evidence(house):
    with house.news() as news, house.events.subscribe() as events:
        await house.tell(began(house.now()), says(house.now(1), "running"))
        (change,) = news.drain()
        assert (change.before, change.after.value, change.version) == (None, "running", 1)
        (signal,) = (await house.store.facts.signals([change.after.evidence])).values()
        assert signal.state == "running"
        assert [event.kind for event in events.drain()] == await house.kinds() == ["agent_began"]
        await house.tell(says(house.now(2), "completed"))
        (change,) = news.drain()
        assert (change.before.value, change.after.value, change.version) == ("running", "completed", 2)
    (event,) = await house.store.events.list(kind="state_changed")
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


async def test_another_word_for_the_same_is_no_change(house):
    await house.tell(began(house.now()), says(house.now(1), "running"))
    with house.news() as news:
        await house.tell(says(house.now(2), "running"))
        assert news.drain() == []
    assert house.states[0].evidence == 3


async def test_time_alone_makes_a_completed_agent_idle(house):
    await house.tell(began(house.now()), says(house.now(), "completed"))
    with house.news() as news:
        await house.pass_time(121)
        (change,) = [one for one in news.drain() if one.after.value == "idle"]
    assert change.before.value == "completed"


async def test_the_deadline_of_a_state_is_waited_for(house, monkeypatch):
    """With a clock that runs: nothing is told to it, and it changes all the same."""
    monkeypatch.setattr(module, "_ALONE_FOR", 0.01)
    await house.tell(began(house.now()), says(house.now(), "completed"))
    with house.news() as news:
        await house.clock.advance(121)
        async with asyncio.timeout(10):
            assert (await news.get()).after.value == "idle"


async def test_the_end_of_a_runtime_is_told_and_closes_its_session(house):
    await house.tell(began(house.now()), says(house.now(1), "idle", session="abc"))
    with house.news() as news:
        await house.tell(RuntimeEnded(at=house.now(2), runtime=ONE))
        (change,) = news.drain()
    assert (change.after.presence, change.after.reason) == ("unmanaged", "no_signal")
    (session,) = await house.store.sessions.list()
    assert (session.external_id, session.end_reason, session.ended_at) == ("abc", "completed", house.now(2))
    assert house.knowing.living == {}


async def test_a_pane_that_goes_takes_its_agent_with_it(house):
    await house.tell(began(house.now()), says(house.now(1), "running"))
    await house.tell(PaneClosed(at=house.now(2), pane=PaneId(1)))
    (session,) = await house.store.sessions.list()
    assert session.end_reason == "pane_gone"
    (event,) = await house.store.events.list(kind="agent_ended")
    assert event.data["end_reason"] == "pane_gone"


async def test_numbers_of_runtimes_are_never_given_twice(house):
    assert house.knowing.new_runtime() == 1
    await house.tell(began(house.now()), RuntimeEnded(at=house.now(1), runtime=ONE))
    await house.again()
    assert house.knowing.new_runtime() == 2


async def test_a_killed_one_comes_back_to_the_same_states_versions_and_sessions(house):
    await house.tell(began(house.now()), says(house.now(1), "running", session="abc"))
    await house.tell(began(house.now(), 2, pane=2), says(house.now(2), "error", runtime=RuntimeId(2)))
    before, versions = house.states, {number: one.version for number, one in house.knowing.standing.projections.items()}
    sessions = dict(house.knowing.standing.story.going_on)
    await house.again()
    await house.tell(says(house.now(3), None, kind="heartbeat"))
    assert [(one.value, one.evidence, one.since) for one in house.states] == [
        (one.value, one.evidence, one.since) for one in before
    ]
    assert {number: one.version for number, one in house.knowing.standing.projections.items()} == versions
    assert house.knowing.standing.story.going_on == sessions


async def test_a_good_end_leaves_a_copy_so_that_nothing_is_folded_again(house):
    await house.tell(began(house.now()), says(house.now(1), "running"))
    known = house.knowing.standing.knowledge
    await house.close()
    kept = await house.store.facts.kept()
    assert (kept.copied, kept.last_fact) == (2, 2)
    assert msgspec.msgpack.decode(kept.copy, type=type(known)) == known
    await house.open()
    assert house.knowing.standing.knowledge == known


async def test_a_copy_of_another_version_is_not_believed(house):
    await house.tell(began(house.now()), says(house.now(1), "running"))
    known = house.knowing.standing.knowledge
    await house.close()
    await house.store._db.write(lambda connection: connection.execute("UPDATE knowledge SET body = x'c0'").fetchall())
    await house.open()
    assert house.knowing.standing.knowledge == known


async def test_what_cannot_be_stored_waits_and_does_not_count(house, monkeypatch):
    await house.tell(began(house.now()))
    add, is_full = house.store.facts.add, [True]

    async def full(turn):
        if is_full[0]:
            raise StorageError("the disk is full")
        return await add(turn)

    monkeypatch.setattr(house.store.facts, "add", full)
    with house.news() as news:
        house.knowing.take([says(house.now(1), "running")])
        await house.clock.until_asleep()
        assert "the disk is full" in house.knowing.trouble
        assert (news.drain(), house.states[0].value) == ([], "unknown")
        is_full[0] = False
        await house.clock.advance(2)
        await house.knowing.stored()
        assert [change.after.value for change in news.drain()] == ["running"]
    assert house.knowing.trouble == ""


async def test_more_than_can_wait_is_refused_whole(house, monkeypatch):
    monkeypatch.setattr(module, "_WAITING", 1)
    assert not house.knowing.take([began(house.now()), says(house.now(), "idle")])
    assert (house.knowing.refused, house.knowing.take([began(house.now())])) == (2, True)


async def test_how_far_a_source_is_read_is_stored_with_its_facts(house):
    house.knowing.take([began(house.now())], reached=("hook", (0, 512)))
    await house.knowing.stored()
    await house.again()
    assert house.knowing.marks == {"hook": (0, 512)}


@pytest.mark.parametrize("facts", [0, 1, 2])
async def test_runtimes_of_which_nothing_is_known_any_more_are_over(house, facts):
    await house.tell(began(house.now()), says(house.now(1), "running"))
    await house.kill()
    await house.store._db.write(
        lambda connection: connection.execute("DELETE FROM fact WHERE id > ?", (facts,)).fetchall()
    )
    await house.open()
    await house.tell(says(house.now(3), None, kind="heartbeat"))
    assert (len(house.knowing.living), len(await house.store.sessions.open())) == ((0, 0) if facts == 0 else (1, 1))


async def test_a_clock_that_is_set_back_freezes_nothing(house, monkeypatch):
    await house.tell(began(house.now()), says(house.now(), "running"))
    now = house.clock.now
    monkeypatch.setattr(house.clock, "now", lambda: now() - 7200 * NS)
    await house.tell(says(house.now(1), "completed"))
    assert house.states[0].value == "completed"
    await house.pass_time(122)
    assert house.states[0].value == "idle"


async def test_a_clock_that_was_set_back_while_nobody_watched_is_noticed(house, monkeypatch):
    await house.tell(began(house.now()), says(house.now(), "completed"))
    now = house.clock.now
    await house.kill()
    monkeypatch.setattr(house.clock, "now", lambda: now() - 7200 * NS)
    await house.open()
    await house.knowing.stored()
    assert house.states[0].since == house.now()
    await house.pass_time(122)
    assert house.states[0].value == "idle"
