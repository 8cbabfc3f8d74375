"""The laws of sightings: rows of the captures, every settled row, none of them twice in a life, whoever goes on."""

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
painted = st.sampled_from([*_PLAIN, *_DRAWN, f"token {KEY}", KEY[:25], KEY[25:]])
rows = st.lists(painted | st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs", "Cc"]), max_size=40))
screens = st.lists(st.tuples(rows, st.integers(0, 12), st.integers(0, 1), st.booleans()), min_size=1, max_size=8)
"""Rows, the row of the cursor, which of two lives, and whether another daemon takes this look."""


async def taken(store: Store, plan: list) -> list[ScreenSample]:
    """Takes the looks, one after the other, and tells what was looked at."""
    server, mux_id = ServerInstance(TargetName("local"), "/s", 1, 1), MuxPaneId("%1")
    pane, _ = await store.panes.find_or_add(PaneInstance(server, mux_id), PaneFacts(mux_id=mux_id, pid=1), at=1)
    clock = SystemClock()
    pipeline = Pipeline(store.output, raw_dir="/nowhere", clock=clock, flush_interval=1)
    stage = SightingRecorder(store, pipeline, clock)
    looks = []
    for at, (texts, cursor, which, is_new_daemon) in enumerate(plan, 1):
        if is_new_daemon:
            await stage.flush_seen_times()
            stage = SightingRecorder(store, pipeline, clock)
        seen = PaneCapture(rows=tuple(texts), width=WIDTH, height=24, cursor_y=cursor, alternate=True)
        looks.append(ScreenSample(ScreenLifetime(pane, EpochId(1), True, which), seen, at))
        await stage.store_samples(looks[-1:])
    await stage.flush_seen_times()
    return looks


async def checked(store: Store, plan: list) -> None:
    looks = await taken(store, plan)
    query = "SELECT text, fold, first_at, last_at, screen FROM sighting"
    stored = await store.sightings._db.read(lambda connection: list(connection.execute(query)))
    shown = {(look.lifetime.since, normalize_row(row.text)) for look in looks for row in extract_rows(look) if row.text}
    texts = {(look.captured_at, row.text, row.fold) for look in looks for row in extract_rows(look) if row.text}

    assert len({number for _, number, *_ in stored}) == len(stored) == len(shown)  # every one, and none twice
    assert all((first, text, number) in texts for text, number, first, *_ in stored)  # a row of a capture
    assert {number for _, number, *_ in stored} == {number for _, _, number in texts}
    for _, number, _, last, _ in stored:
        assert last == max(at for at, _, fold_of in texts if fold_of == number)
    assert not any(KEY[10:30] in text for text, *_ in stored)
    await check_screens(store, looks, {screen for *_, screen in stored})


async def check_screens(store: Store, looks: list[ScreenSample], numbers: set[int]) -> None:
    """A stored screen is exactly what the look saw, but for its input area."""
    at = {look.captured_at: look for look in looks}
    for number in numbers:
        screen = await store.sightings.find_screen(number)
        expected = [row.text for row in extract_rows(at[screen.at])]
        while expected and not expected[-1] and len(expected) > len(screen.rows):
            expected.pop()
        assert list(screen.rows) == expected


@build_settings(25)
@given(screens)
def test_sightings_are_rows_of_the_captures_and_every_settled_row_is_there_once_a_life(plan):
    async def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            store = await Store.open(f"{folder}/visor.db", SystemClock())
            try:
                await checked(store, plan)
            finally:
                await store.close()

    asyncio.run(run())


@given(st.text())
def test_folding_is_blind_to_blanks_around_a_row_and_leaves_letters_alone(text):
    assert normalize_row(f"  {text}\t") == normalize_row(text)
    assert [char for char in normalize_row(text) if char.isalpha()] == [char for char in text if char.isalpha()]
