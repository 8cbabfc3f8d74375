"""Rows of full-screen programs are stored once, with the screens that showed them."""

import pytest
from msgspec.structs import replace

from termvisor.model.detection.detection import Detection
from termvisor.model.ids import EpochId, ScreenId
from termvisor.model.terminal.screen import CapturedScreen, Screen, ScreenRow
from termvisor.store import Store


def build_rows(*texts: str) -> tuple[ScreenRow, ...]:
    """Build rows whose hash ignores digits; < marks a line of the stream, > the input area."""
    kinds = {"<": "line", ">": "input"}
    return tuple(ScreenRow(text.lstrip("<>"), compute_hash(text), kinds.get(text[:1], "sighting")) for text in texts)


def compute_hash(text: str) -> int:
    return sum(ord(char) << 8 * (index % 6) for index, char in enumerate(c for c in text if not c.isdigit()))


def build_capture(pane, at: int, *texts: str, epoch: int = 1) -> CapturedScreen:
    screen = Screen(pane=pane, rows=(), width=80, height=24, cursor_x=2, cursor_y=3, alternate=True, at=at)
    return CapturedScreen(EpochId(epoch), screen, build_rows(*texts))


@pytest.fixture
async def pane(new_pane):
    return await new_pane()


async def list_rows(store: Store, pane) -> list[tuple[str, int, int]]:
    """Return texts with first and last seen time, in stored order."""
    query = "SELECT text, first_at, last_at FROM sighting WHERE pane = ? ORDER BY id"
    return await store.sightings._db.read(lambda connection: list(connection.execute(query, (pane,))))


async def test_a_row_is_stored_once_however_often_it_is_seen(store, pane):
    (first,) = await store.sightings.add([build_capture(pane, 10, "hello", "working 1s")])
    (again,) = await store.sightings.add([build_capture(pane, 20, "hello", "working 2s")])
    assert [row.id for row in first.rows] == [row.id for row in again.rows] == [1, 2]
    assert (first.screen, again.screen) == (1, None)
    assert await list_rows(store, pane) == [("hello", 10, 10), ("working 1s", 10, 10)]


async def test_the_same_row_in_another_epoch_is_stored_again(store, pane):
    await store.sightings.add([build_capture(pane, 10, "hello"), build_capture(pane, 20, "hello", epoch=2)])
    assert await list_rows(store, pane) == [("hello", 10, 10), ("hello", 20, 20)]


async def test_a_row_shown_twice_on_a_screen_is_stored_once(store, pane):
    (stored,) = await store.sightings.add([build_capture(pane, 10, "step 1", "step 2")])
    assert [row.id for row in stored.rows] == [1, 1]
    assert (await store.sightings.find_screen(stored.screen)).rows == ("step 1", "step 2")


async def test_a_screen_with_a_new_row_is_stored_and_read_back(store, pane):
    await store.sightings.add([build_capture(pane, 10, "hello", "working 1s", "", ">typed", "status")])
    await store.sightings.add(
        [build_capture(pane, 20, "hello", "new", "working 7s", "<printed", "", ">typed", "status", "")]
    )
    screen = await store.sightings.find_screen(ScreenId(2))
    assert screen.rows == ("hello", "new", "working 7s", "printed", "", "", "status")
    assert screen.left_out == (5,)
    assert (screen.at, screen.width, screen.height, screen.cursor_x, screen.cursor_y) == (20, 80, 24, 2, 3)
    assert screen.alternate


async def test_input_area_and_stream_lines_are_not_stored_as_rows(store, pane):
    (stored,) = await store.sightings.add([build_capture(pane, 10, ">secret plan", "<printed", "")])
    assert stored.screen is None
    assert await list_rows(store, pane) == []


async def test_find_screen_at_returns_the_last_screen_before_the_time(store, pane, new_pane):
    other = await new_pane("%2")
    await store.sightings.add(
        [build_capture(pane, 10, "one"), build_capture(other, 15, "else"), build_capture(pane, 20, "two")]
    )
    found = [await store.sightings.find_screen_at(pane, at) for at in (9, 10, 19, 20, 99)]
    assert [screen and screen.rows for screen in found] == [None, ("one",), ("one",), ("two",), ("two",)]
    assert await store.sightings.find_screen(ScreenId(99)) is None


async def test_the_last_seen_time_of_a_row_never_decreases(store, pane):
    await store.sightings.add([build_capture(pane, 10, "a", "b")])
    await store.sightings.record_last_seen({1: 50, 2: 5})
    assert await list_rows(store, pane) == [("a", 10, 50), ("b", 10, 10)]


async def test_a_stored_screen_updates_the_last_seen_time_of_its_rows(store, pane):
    (stored,) = await store.sightings.add([build_capture(pane, 10, "a", "b")])
    known = ScreenRow("a", compute_hash("a"), id=stored.rows[0].id)
    later = build_capture(pane, 30, "c")
    await store.sightings.add([replace(later, rows=(known, *later.rows))])
    assert await list_rows(store, pane) == [("a", 10, 30), ("b", 10, 10), ("c", 30, 30)]


async def test_row_ids_are_not_reused(store, pane):
    await store.sightings.add([build_capture(pane, 10, "a", "b")])
    await store.sightings._db.write(
        lambda connection: connection.execute("DELETE FROM screen; DELETE FROM sighting").fetchall()
    )
    (stored,) = await store.sightings.add([build_capture(pane, 20, "c")])
    assert (stored.rows[0].id, stored.screen) == (3, 2)


async def test_surrogates_in_rows_are_replaced(store, pane):
    (stored,) = await store.sightings.add([build_capture(pane, 10, "torn \ud800 row")])
    assert (await store.sightings.find_screen(stored.screen)).rows == ("torn ? row",)


async def test_time_of_the_newest_row_ignores_known_rows(store, pane):
    assert await store.sightings.find_newest_time(pane) == 0
    await store.sightings.add(
        [build_capture(pane, 10, "hello"), build_capture(pane, 20, "hello", "more"), build_capture(pane, 30, "hello")]
    )
    assert await store.sightings.find_newest_time(pane) == 20


async def test_baseline_screen_is_read_back_for_its_pane(store, new_pane):
    pane, other = await new_pane("%1"), await new_pane("%2")
    epoch = await store.output.open_epoch(pane, "pipe", 5)
    screen = Screen(
        pane=pane, rows=("$ ls", "", "é日"), width=80, height=3, cursor_x=2, cursor_y=1, alternate=True, at=5
    )
    await store.baseline_screens.save(epoch, screen)
    assert await store.baseline_screens.find_by_pane(pane) == {epoch: screen}
    assert await store.baseline_screens.find_by_pane(other) == {}


async def test_the_shown_matches_of_an_epoch_are_read_back(store, pane):
    epoch = await store.output.open_epoch(pane, "pipe", 5)
    assert await store.sightings.read_shown_matches(epoch) == b""
    await store.sightings.add([replace(build_capture(pane, 10), shown_matches=b"seen")])
    await store.sightings.add([build_capture(pane, 11)])
    assert await store.sightings.read_shown_matches(epoch) == b"seen"


async def test_a_detection_refers_to_its_screen_and_row(store, pane):
    found = Detection(at=10, type="a.b", rule="r", pane=pane, source="screen", key="k", evidence={"x": 1})
    capture = build_capture(pane, 10, "hello", "other")
    first = replace(capture, found=((capture.rows[1].fold, found),))
    (stored,) = await store.sightings.add([first])
    assert [event.kind for event in stored.events] == ["a.b"]
    assert (await store.detections.find(stored.events[0].id)).evidence == {"x": 1, "screen": 1, "sighting": 2}
    (again,) = await store.sightings.add([first])
    assert (again.screen, again.events) == (2, ()), "a match is a reason to store the screen, and no second event"


async def test_a_baseline_screen_replaces_the_previous_one_of_its_epoch(store, pane):
    epoch = await store.output.open_epoch(pane, "pipe", 5)
    screen = Screen(pane=pane, rows=("a\nb \ud800",), width=9, height=1, at=5)
    await store.baseline_screens.save(epoch, replace(screen, rows=("old",)))
    await store.baseline_screens.save(epoch, screen)
    assert await store.baseline_screens.find_by_pane(pane) == {epoch: replace(screen, rows=("a b ?",))}
