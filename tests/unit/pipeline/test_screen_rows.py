"""Store the rows of screen samples once per lifetime, redacted, without input, across restarts."""

import asyncio
from pathlib import Path

import pytest

from termvisor.backends.pane_source import PaneCapture
from termvisor.capture.screen_sampler import PaintActivity, ScreenSample
from termvisor.errors import StorageError
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.output import Epoch
from termvisor.model.terminal.screen import ScreenLifetime
from termvisor.pipeline import SightingRecorder, screen_rows
from termvisor.pipeline.screen_rows import extract_rows
from termvisor.recorder.segment_log import SegmentWriter
from termvisor.redaction import SeenSecrets
from termvisor.testing.private_tmux import make_short_folder
from tests.unit.capture.capture_harness import CaptureStore as House

KEY = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
AWAY = 99
"""A row of the cursor below everything."""


@pytest.fixture
async def capture_store():
    with make_short_folder() as folder:
        opened = await House(folder).open()
        yield opened
        await opened.close()


@pytest.fixture
async def pane(capture_store) -> PaneId:
    return await capture_store.add_pane()


@pytest.fixture
def recorder(capture_store) -> SightingRecorder:
    return SightingRecorder(capture_store.store, capture_store.pipeline, capture_store.clock)


def build_sample(
    pane: PaneId, *rows: str, at: int = 100, life: ScreenLifetime | None = None, cursor: int = AWAY
) -> ScreenSample:
    life = life or ScreenLifetime(pane, EpochId(1), True, 5)
    seen = PaneCapture(rows=rows, width=80, height=24, cursor_y=cursor, alternate=life.is_alternate)
    return ScreenSample(life, seen, at)


async def list_texts(capture_store, pane: PaneId) -> list[str]:
    query = "SELECT text FROM sighting WHERE pane = ? ORDER BY id"
    rows = await capture_store.store.sightings._db.read(lambda connection: list(connection.execute(query, (pane,))))
    return [text for (text,) in rows]


async def list_last_seen(capture_store, pane: PaneId) -> dict[str, int]:
    query = "SELECT text, last_at FROM sighting WHERE pane = ?"
    return await capture_store.store.sightings._db.read(lambda connection: dict(connection.execute(query, (pane,))))


async def test_each_row_is_stored_once_per_lifetime_as_first_seen(capture_store, pane, recorder):
    await recorder.store_samples([build_sample(pane, "hello  ", "⠋ Thinking… 9s", "")])
    await recorder.store_samples([build_sample(pane, "hello", "⠙ Thinking… 10s", "world")])
    assert await list_texts(capture_store, pane) == ["hello", "⠋ Thinking… 9s", "world"]


async def test_another_screen_lifetime_has_its_own_rows(capture_store, pane, recorder):
    await recorder.store_samples([build_sample(pane, "hello")])
    await recorder.store_samples([build_sample(pane, "hello", life=ScreenLifetime(pane, EpochId(1), True, 6))])
    assert await list_texts(capture_store, pane) == ["hello", "hello"]


async def test_the_input_area_is_not_stored_as_row_or_screen(capture_store, pane, recorder):
    rule = "─" * 30
    await recorder.store_samples([build_sample(pane, "answer", rule, "❯ half a thou", rule, "status", cursor=2)])
    assert await list_texts(capture_store, pane) == ["answer", "status"]
    screen = await capture_store.store.sightings.find_screen_at(pane, 100)
    assert (screen.rows, screen.left_out) == (("answer", "", "", "", "status"), (1, 2, 3))


async def test_a_secret_on_the_screen_is_not_stored(capture_store, pane, recorder):
    box = [f"│ {part:<20} │" for part in (KEY[:20], KEY[20:])]
    await recorder.store_samples([build_sample(pane, f"export TOKEN={KEY}", *box)])
    await capture_store.store.checkpoint()
    folder = Path(capture_store.paths.database).parent
    stored = b"".join(path.read_bytes() for path in folder.glob("visor.db*"))
    assert b"export TOKEN" in stored
    assert KEY[:20].encode() not in stored
    assert KEY[20:].encode() not in stored


async def test_the_rest_of_a_painted_over_key_is_not_stored(capture_store, pane, recorder):
    seen = SeenSecrets()
    extract_rows(build_sample(pane, "", KEY[:24], KEY[24:]), seen)
    left = extract_rows(build_sample(pane, "", f"working on it{KEY[16:24]}", KEY[24:]), seen)
    mask = "[redacted:github_token]"
    assert [row.text for row in left] == ["", f"working on it{mask}", mask]


async def test_secrets_of_the_stream_are_redacted_in_screen_rows(capture_store, pane, recorder):
    epoch = Epoch(id=EpochId(1), pane=pane, source="pipe", opened_at=1)
    writer = SegmentWriter(capture_store.pipeline.build_folder_path(epoch), 1 << 20)
    writer.append(f"\x1b[?1049h\x1b[2;1H{KEY}\x1b[2;1Hworking".encode(), 5)
    capture_store.pipeline.open_epoch(epoch)
    await recorder.store_samples([build_sample(pane, "", f"working{KEY[7:]}")])
    writer.close()
    assert await list_texts(capture_store, pane) == ["working[redacted:github_token]"]


async def test_a_first_row_that_may_be_the_end_of_a_secret_is_not_stored(capture_store, pane, recorder):
    await recorder.store_samples([build_sample(pane, KEY[12:], "second row", KEY[12:34])])
    await recorder.store_samples([build_sample(pane, "first-row of words", "second row")])
    assert await list_texts(capture_store, pane) == ["second row", KEY[12:34], "first-row of words"]


async def test_a_sample_without_new_rows_writes_only_at_the_flush(capture_store, pane, recorder):
    await recorder.store_samples([build_sample(pane, "hello")])
    stored, capture_store.store.sightings.add = capture_store.store.sightings.add, None
    await recorder.store_samples([build_sample(pane, "hello", at=200)])
    capture_store.store.sightings.add = stored
    assert await list_last_seen(capture_store, pane) == {"hello": 100}
    assert recorder._has_seen_times.is_set()
    await recorder.flush_seen_times()
    assert await list_last_seen(capture_store, pane) == {"hello": 200}
    assert not recorder._has_seen_times.is_set()


async def test_the_times_of_known_rows_are_written_without_new_rows(capture_store, pane, recorder, monkeypatch):
    monkeypatch.setattr(screen_rows, "_FLUSH_INTERVAL_S", 0.01)
    running = asyncio.ensure_future(recorder.run())
    await recorder.store_samples([build_sample(pane, "hello")])
    await recorder.store_samples([build_sample(pane, "hello", at=300)])
    async with asyncio.timeout(5):
        while await list_last_seen(capture_store, pane) != {"hello": 300}:
            await asyncio.sleep(0.005)
    running.cancel()


def note_activity(recorder, pane: PaneId, *, epoch: int = 1, since: int | None = 5) -> None:
    life = None if since is None else ScreenLifetime(pane, EpochId(epoch), True, since)
    recorder.note_activity(PaintActivity(pane, EpochId(epoch), life))


async def test_rows_of_a_quiet_screen_are_visible_until_a_search_asks(capture_store, pane, recorder):
    note_activity(recorder, pane)
    await recorder.store_samples([build_sample(pane, "hello", at=100)])
    await recorder.record_visible(since=100)
    assert await list_last_seen(capture_store, pane) == {"hello": 100}
    before = capture_store.clock.now()
    await recorder.record_visible(since=101)
    assert (await list_last_seen(capture_store, pane))["hello"] >= before


async def test_rows_are_visible_until_their_screen_ends(capture_store, pane, recorder):
    note_activity(recorder, pane)
    await recorder.store_samples([build_sample(pane, "hello", at=100)])
    # The end of an older epoch comes late and ends nothing.
    note_activity(recorder, pane, epoch=0, since=None)
    note_activity(recorder, pane, since=None)
    ended_before = capture_store.clock.now()
    # A sample that was taken before and is stored after the end shows nothing that is visible now.
    await recorder.store_samples([build_sample(pane, "late", at=101)])
    await recorder.record_visible(since=capture_store.clock.now())
    seen = await list_last_seen(capture_store, pane)
    assert (100 < seen["hello"] <= ended_before, seen["late"]) == (True, 101)


async def test_rows_are_visible_until_the_next_paint_replaces_them(capture_store, pane, recorder):
    note_activity(recorder, pane)
    await recorder.store_samples([build_sample(pane, "hello", at=100)])
    await recorder.store_samples([build_sample(pane, "world", at=900)])
    await recorder.flush_seen_times()
    assert await list_last_seen(capture_store, pane) == {"hello": 900, "world": 900}


async def test_new_rows_are_published_and_known_ones_are_not(capture_store, pane, recorder):
    with capture_store.pipeline.changed_panes.subscribe() as news:
        await recorder.store_samples([build_sample(pane, "hello")])
        assert news.drain() == [pane]
        await recorder.store_samples([build_sample(pane, "hello")])
        assert news.drain() == []


async def test_the_next_daemon_continues_the_screen_lifetime(capture_store, pane, recorder):
    await recorder.store_samples([build_sample(pane, "hello", "there")])
    await capture_store.restart()
    later = SightingRecorder(capture_store.store, capture_store.pipeline, capture_store.clock)
    await later.store_samples([build_sample(pane, "hello", "there", "again", at=200)])
    assert await list_texts(capture_store, pane) == ["hello", "there", "again"]


async def test_the_row_cache_is_bounded_and_eviction_duplicates_no_row(capture_store, pane, recorder, monkeypatch):
    monkeypatch.setattr(screen_rows, "_MAX_KNOWN_ROWS", 3)
    for _ in range(2):
        for letter in "abcdefgh":
            await recorder.store_samples([build_sample(pane, f"row {letter}", "always")])
    assert len(recorder._known_rows) == 3
    assert sorted(await list_texts(capture_store, pane)) == sorted(
        ["always", *(f"row {letter}" for letter in "abcdefgh")]
    )


async def test_printed_lines_on_the_main_screen_are_not_stored_as_rows(capture_store, pane, recorder):
    epoch = await capture_store.reserve_epoch(pane)
    capture_store.pipeline.open_epoch(epoch)
    capture_store.write_output(epoch, b"printed before\r\nThinking 1s\r\n")
    await capture_store.pipeline.wait_settled()
    life = ScreenLifetime(pane, epoch.id, False)
    await recorder.store_samples([build_sample(pane, "printed before", "Thinking 8s", "only painted", life=life)])
    assert await list_texts(capture_store, pane) == ["only painted"]
    screen = await capture_store.store.sightings.find_screen_at(pane, 100)
    assert screen.rows == ("printed before", "Thinking 8s", "only painted")
    await recorder.store_samples([build_sample(pane, "printed before", "only painted", at=200, life=life)])
    assert await list_texts(capture_store, pane) == ["only painted"]


async def test_a_row_of_the_alternate_screen_is_stored_although_the_same_was_printed(capture_store, pane, recorder):
    epoch = await capture_store.reserve_epoch(pane)
    capture_store.pipeline.open_epoch(epoch)
    capture_store.write_output(epoch, b"the same\r\n\x1b[?1049h")
    await capture_store.pipeline.wait_settled()
    life = ScreenLifetime(pane, epoch.id, True, 5)
    await recorder.store_samples([build_sample(pane, "the same", life=life)])
    assert await list_texts(capture_store, pane) == ["the same"]


async def test_a_painted_row_that_is_printed_later_stays_a_row(capture_store, pane, recorder):
    epoch = await capture_store.reserve_epoch(pane)
    capture_store.pipeline.open_epoch(epoch)
    life = ScreenLifetime(pane, epoch.id, False)
    await recorder.store_samples([build_sample(pane, "painted first", life=life)])
    capture_store.write_output(epoch, b"painted first\r\n")
    await capture_store.pipeline.wait_settled()

    async def raise_disk_full(_screens):
        raise StorageError("the disk is full")

    add = capture_store.store.sightings.add
    for at, capture_store.store.sightings.add in ((200, raise_disk_full), (300, add)):
        await recorder.store_samples([build_sample(pane, "painted first", "new", at=at, life=life)])
    await recorder.flush_seen_times()
    assert (await list_last_seen(capture_store, pane))["painted first"] == 300


async def test_a_line_that_is_not_stored_yet_is_not_stored_as_a_row(capture_store, pane):
    epoch = await capture_store.reserve_epoch(pane)
    capture_store.pipeline.flush_interval = 60.0
    capture_store.pipeline.open_epoch(epoch)
    capture_store.write_output(epoch, b"just printed\r\n")
    async with asyncio.timeout(5):
        while capture_store.pipeline.captured_bytes == 0:
            await asyncio.sleep(0.005)
    recorder = SightingRecorder(capture_store.store, capture_store.pipeline, capture_store.clock)
    await recorder.store_samples([build_sample(pane, "just printed", life=ScreenLifetime(pane, epoch.id, False))])
    assert await list_texts(capture_store, pane) == []


async def test_a_full_disk_is_reported_and_does_not_end_the_task(capture_store, pane, recorder):
    async def raise_disk_full(_screens):
        raise StorageError("the disk is full")

    stored, capture_store.store.sightings.add = capture_store.store.sightings.add, raise_disk_full
    await recorder.store_samples([build_sample(pane, "hello")])
    assert "disk is full" in recorder.storage_error
    capture_store.store.sightings.add = stored
    await recorder.store_samples([build_sample(pane, "hello")])
    assert recorder.storage_error == ""
    assert await list_texts(capture_store, pane) == ["hello"]


async def test_times_that_cannot_be_written_are_reported(capture_store, pane, recorder):
    async def raise_disk_full(_times):
        raise StorageError("the disk is full")

    await recorder.store_samples([build_sample(pane, "hello")])
    capture_store.store.sightings.record_last_seen = raise_disk_full
    await recorder.flush_seen_times()
    assert recorder.storage_error == "sightings cannot be stored: the disk is full"


@pytest.mark.parametrize(
    ("since", "epoch", "is_visible"), [(5, 1, True), (6, 1, False), (None, 1, False), (None, 2, True)]
)
async def test_only_the_end_or_another_screen_of_the_epoch_hides_the_rows(recorder, pane, since, epoch, is_visible):
    note_activity(recorder, pane)
    await recorder.store_samples([build_sample(pane, "hello")])
    note_activity(recorder, pane, epoch=epoch, since=since)
    assert (pane in recorder._visible) is is_visible


async def test_the_first_row_is_blank_only_if_it_may_continue_a_secret(pane):
    rows = extract_rows(build_sample(pane, KEY[12:], KEY[12:34], "", "words"))
    assert [(row.text, row.kind, bool(row.fold)) for row in rows] == [
        ("", "sighting", False),
        (KEY[12:34], "sighting", True),
        ("", "sighting", False),
        ("words", "sighting", True),
    ]
    assert extract_rows(build_sample(pane)) == ()


def test_the_cursor_row_is_found_after_a_joined_row():
    life = ScreenLifetime(PaneId(1), EpochId(1), True)
    seen = PaneCapture(rows=("long " * 20, "typed", "status"), width=80, height=24, cursor_y=2, alternate=True)
    assert [row.kind for row in extract_rows(ScreenSample(life, seen, 1))] == ["sighting", "input", "sighting"]
