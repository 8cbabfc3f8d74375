"""Stored screen rows: every captured row once per screen lifetime, also across daemon restarts."""

import asyncio
import tempfile

from hypothesis import given
from hypothesis import strategies as st

from termvisor.backends.pane_source import PaneCapture
from termvisor.capture.screen_sampler import ScreenSample
from termvisor.clock import SystemClock
from termvisor.model.ids import EpochId, MuxPaneId, TargetName
from termvisor.model.terminal.pane import PaneFacts, PaneInstance, ServerInstance
from termvisor.model.terminal.screen import ScreenLifetime
from termvisor.pipeline import Pipeline, SightingRecorder
from termvisor.pipeline.screen_rows import extract_rows
from termvisor.store import Store
from termvisor.terminal.row_normalization import normalize_row
from tests.fuzz.example_count import build_settings

KEY = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
WIDTH = 30

_PLAIN = ["", "  ", "hello", "Thinking… 1s", "Thinking… 22s", "⠋ Thinking… 3s", "| -", "\\", "x" * 70, "漢字" * 20]
_DRAWN = ["─" * WIDTH, "❯ typed", "│ boxed │", "╭" + "─" * 10 + "╮", "╰" + "─" * 10 + "╯"]
row_texts = st.sampled_from([*_PLAIN, *_DRAWN, f"token {KEY}", KEY[:25], KEY[25:]])
rows = st.lists(
    row_texts | st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs", "Cc"]), max_size=40)
)
sample_plans = st.lists(st.tuples(rows, st.integers(0, 12), st.integers(0, 1), st.booleans()), min_size=1, max_size=8)
"""Rows, cursor row, number of the screen lifetime, and whether the daemon restarts before this sample."""


async def store_samples(store: Store, plan: list) -> list[ScreenSample]:
    """Store the samples one after the other and return them."""
    server, mux_id = ServerInstance(TargetName("local"), "/s", 1, 1), MuxPaneId("%1")
    pane, _ = await store.panes.find_or_add(PaneInstance(server, mux_id), PaneFacts(mux_id=mux_id, pid=1), at=1)
    clock = SystemClock()
    pipeline = Pipeline(store.output, raw_dir="/nowhere", clock=clock, flush_interval=1)
    recorder = SightingRecorder(store, pipeline, clock)
    samples = []
    for at, (texts, cursor, lifetime_number, is_new_daemon) in enumerate(plan, 1):
        if is_new_daemon:
            await recorder.flush_seen_times()
            recorder = SightingRecorder(store, pipeline, clock)
        capture = PaneCapture(rows=tuple(texts), width=WIDTH, height=24, cursor_y=cursor, alternate=True)
        samples.append(ScreenSample(ScreenLifetime(pane, EpochId(1), True, lifetime_number), capture, at))
        await recorder.store_samples(samples[-1:])
    await recorder.flush_seen_times()
    return samples


async def check_sightings(store: Store, plan: list) -> None:
    samples = await store_samples(store, plan)
    query = "SELECT text, fold, first_at, last_at, screen FROM sighting"
    stored = await store.sightings._db.read(lambda connection: list(connection.execute(query)))
    expected = {
        (sample.lifetime.since, normalize_row(row.text))
        for sample in samples
        for row in extract_rows(sample)
        if row.text
    }
    texts = {(sample.captured_at, row.text, row.fold) for sample in samples for row in extract_rows(sample) if row.text}

    assert len({number for _, number, *_ in stored}) == len(stored) == len(expected)  # each row, and none twice
    assert all((first, text, number) in texts for text, number, first, *_ in stored)  # a row of a capture
    assert {number for _, number, *_ in stored} == {number for _, _, number in texts}
    for _, number, _, last, _ in stored:
        assert last == max(at for at, _, fold in texts if fold == number)
    assert not any(KEY[10:30] in text for text, *_ in stored)
    await check_screens(store, samples, {screen for *_, screen in stored})


async def check_screens(store: Store, samples: list[ScreenSample], numbers: set[int]) -> None:
    """Check that a stored screen equals its sample without the input area."""
    at = {sample.captured_at: sample for sample in samples}
    for number in numbers:
        screen = await store.sightings.find_screen(number)
        expected = [row.text for row in extract_rows(at[screen.at])]
        while expected and not expected[-1] and len(expected) > len(screen.rows):
            expected.pop()
        assert list(screen.rows) == expected


@build_settings(25)
@given(sample_plans)
def test_every_captured_row_is_stored_once_per_screen_lifetime(plan):
    async def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            store = await Store.open(f"{folder}/visor.db", SystemClock())
            try:
                await check_sightings(store, plan)
            finally:
                await store.close()

    asyncio.run(run())


@given(st.text())
def test_row_normalization_ignores_outer_blanks_and_keeps_letters(text):
    assert normalize_row(f"  {text}\t") == normalize_row(text)
    assert [char for char in normalize_row(text) if char.isalpha()] == [char for char in text if char.isalpha()]
