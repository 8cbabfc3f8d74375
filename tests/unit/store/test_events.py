import pytest

from termvisor.errors import InvalidCursor
from termvisor.model.event import Event


def event(at, pane=None, **data):
    return Event(at=at, kind="alert", pane=pane, data=data)


async def ids(store, **asked):
    return [each.id for each in await store.events.list(**asked)]


async def test_events_get_rising_ids_and_come_back_as_they_were(store, new_pane):
    pane = await new_pane()
    stored = await store.events.add([event(1, what="x", n=1, f=1.5, b=True, none=None), event(2, pane)])
    assert [each.id for each in stored] == [1, 2]
    assert await store.events.list() == stored
    assert await store.events.newest() == 2


async def test_before_the_first_event_the_cursor_is_zero(store):
    assert await store.events.newest() == 0
    assert await store.events.list() == []
    assert await store.events.list(after=0) == []


async def test_without_a_cursor_the_newest_come_with_one_the_next(store):
    await store.events.add([event(at) for at in range(10)])
    assert await ids(store, limit=3) == [8, 9, 10]
    assert await ids(store, after=2, limit=3) == [3, 4, 5]
    assert await ids(store, after=10) == []
    assert await ids(store, limit=0) == []


async def test_they_can_be_of_one_pane_and_since_a_time(store, new_pane):
    first, second = await new_pane("%1"), await new_pane("%2")
    await store.events.add([event(at, first if at % 2 else second) for at in range(1, 9)])
    assert await ids(store, pane=first) == [1, 3, 5, 7]
    assert await ids(store, since=6) == [6, 7, 8]
    assert await ids(store, since=2, limit=2) == [7, 8]
    assert await ids(store, pane=second, since=4, after=4) == [6, 8]


@pytest.mark.parametrize("cursor", [11, 1 << 70, -1])
async def test_a_foreign_cursor_is_refused_with_the_oldest_valid_one(store, cursor):
    await store.events.add([event(at) for at in range(10)])
    with pytest.raises(InvalidCursor) as caught:
        await store.events.list(after=cursor)
    assert caught.value.details["oldest"] == 0


async def test_an_expired_cursor_is_refused_with_the_oldest_valid_one(store):
    await store.events.add([event(at) for at in range(10)])
    await store._db.write(lambda connection: connection.execute("DELETE FROM event WHERE id <= 4").get)
    with pytest.raises(InvalidCursor) as caught:
        await store.events.list(after=3)
    assert caught.value.details["oldest"] == 4
    assert await ids(store, after=4, limit=1) == [5]


async def test_ids_are_not_given_again_when_all_events_are_deleted(store):
    await store.events.add([event(1), event(2)])
    await store._db.write(lambda connection: connection.execute("DELETE FROM event").get)
    assert await store.events.newest() == 2
    assert await ids(store, after=2) == []
    (stored,) = await store.events.add([event(3)])
    assert stored.id == 3


async def test_they_can_be_of_one_kind_however_rare_it_is(store):
    rare = Event(at=1, kind="gap_recorded")
    await store.events.add([rare, *(event(at) for at in range(2, 3000)), rare])
    assert await ids(store, kind="gap_recorded") == [1, 3000]
    assert await ids(store, kind="gap_recorded", after=1) == [3000]
    assert await ids(store, kind="pane_gone") == []
