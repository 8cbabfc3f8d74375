import pytest
from msgspec.structs import replace

from termvisor.errors import InvalidCursor
from termvisor.model.event import Event


def build_event(at, pane=None, **data):
    return Event(at=at, kind="alert", pane=pane, data=data)


async def list_ids(store, **asked):
    return [each.id for each in await store.events.list(**asked)]


async def test_events_get_rising_ids_and_are_read_as_stored(store, new_pane):
    pane = await new_pane()
    stored = await store.events.add([build_event(1, what="x", n=1, f=1.5, b=True, none=None), build_event(2, pane)])
    assert [each.id for each in stored] == [1, 2]
    assert await store.events.list() == stored
    assert await store.events.find_newest_id() == 2


async def test_before_the_first_event_the_cursor_is_zero(store):
    assert await store.events.find_newest_id() == 0
    assert await store.events.list() == []
    assert await store.events.list(after=0) == []


async def test_without_a_cursor_the_newest_events_are_listed_with_one_the_next(store):
    await store.events.add([build_event(at) for at in range(10)])
    assert await list_ids(store, limit=3) == [8, 9, 10]
    assert await list_ids(store, after=2, limit=3) == [3, 4, 5]
    assert await list_ids(store, after=10) == []
    assert await list_ids(store, limit=0) == []


async def test_events_are_filtered_by_pane_and_time(store, new_pane):
    first, second = await new_pane("%1"), await new_pane("%2")
    await store.events.add([build_event(at, first if at % 2 else second) for at in range(1, 9)])
    assert await list_ids(store, pane=first) == [1, 3, 5, 7]
    assert await list_ids(store, since=6) == [6, 7, 8]
    assert await list_ids(store, since=2, limit=2) == [7, 8]
    assert await list_ids(store, pane=second, since=4, after=4) == [6, 8]


@pytest.mark.parametrize("cursor", [11, 1 << 70, -1])
async def test_a_foreign_cursor_is_rejected_with_the_oldest_valid_one(store, cursor):
    await store.events.add([build_event(at) for at in range(10)])
    with pytest.raises(InvalidCursor) as caught:
        await store.events.list(after=cursor)
    assert caught.value.details["oldest"] == "0"


async def test_an_expired_cursor_is_rejected_with_the_oldest_valid_one(store):
    await store.events.add([build_event(at) for at in range(10)])
    await store._db.write(lambda connection: connection.execute("DELETE FROM event WHERE id <= 4").get)
    with pytest.raises(InvalidCursor) as caught:
        await store.events.list(after=3)
    assert caught.value.details["oldest"] == "4"
    assert await list_ids(store, after=4, limit=1) == [5]


async def test_event_ids_are_not_reused_after_all_events_are_deleted(store):
    await store.events.add([build_event(1), build_event(2)])
    await store._db.write(lambda connection: connection.execute("DELETE FROM event").get)
    assert await store.events.find_newest_id() == 2
    assert await list_ids(store, after=2) == []
    (stored,) = await store.events.add([build_event(3)])
    assert stored.id == 3


@pytest.fixture
async def rare_events(store, new_pane):
    """Three gaps, with thousands of other events between them."""
    pane, gap = await new_pane(), Event(at=1, kind="gap_recorded")
    crowd = [build_event(2, pane)] * 6000
    await store.events.add([gap, *crowd, replace(gap, at=3, pane=pane), *crowd, replace(gap, at=4)])
    return store


async def test_events_are_filtered_by_a_rare_kind(rare_events):
    assert await list_ids(rare_events, kind="gap_recorded") == [1, 6002, 12003]
    assert await list_ids(rare_events, kind="gap_recorded", limit=1) == [12003]
    assert await list_ids(rare_events, kind="gap_recorded", since=3) == [6002, 12003]
    assert await list_ids(rare_events, kind="gap_recorded", pane=1) == [6002]
    assert await list_ids(rare_events, kind="pane_gone") == []


async def test_one_kind_is_read_page_by_page_with_a_cursor(rare_events):
    cursor, pages = 0, []
    while page := await list_ids(rare_events, kind="gap_recorded", after=cursor, limit=2):
        pages.append(page)
        cursor = page[-1]
    assert pages == [[1, 6002], [12003]]


@pytest.mark.parametrize(
    ("asked", "plan"),
    [
        ({"kind": "alert"}, "event_kind (kind=?)"),
        ({"kind": "alert", "after": 5}, "event_kind (kind=? AND id>?)"),
        ({"kind": "alert", "since": 5}, "event_kind (kind=?)"),
        ({"pane": 1, "since": 5}, "event_pane (pane=?)"),
        ({"pane": 1, "kind": "alert", "after": 5}, "event_pane (pane=? AND id>?)"),
        ({"since": 5}, "event_at (at>?)"),
        ({"after": 5}, "PRIMARY KEY (rowid>?)"),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, dict) else "",
)
async def test_no_query_scans_or_sorts_all_events(store, asked, plan):
    await store.events.add([build_event(at) for at in range(10)])
    run = []
    await store._db.read(lambda connection: setattr(connection, "exec_trace", lambda *ran: not run.append(ran[1:])))
    await store.events.list(**asked)
    await store._db.read(lambda connection: setattr(connection, "exec_trace", None))
    (question,) = [(text, values) for text, values in run if "FROM event WHERE" in text]
    (step,) = await store._db.read(
        lambda connection: connection.execute(f"EXPLAIN QUERY PLAN {question[0]}", question[1]).fetchall()
    )
    assert step[3].endswith(plan)
