"""Looks become sightings: redacted, without the input area, each row once in the life of its screen.

In: Looks. Out: stored sightings with the screens they stood in, then the news of them. What is known of a life is in
the store; here is only a bounded memory of it, so that a look with nothing new in it costs no write.
"""

import asyncio
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from termvisor.backends.pane_source import PaneCapture
from termvisor.capture.screen_sampler import ScreenSample
from termvisor.clock import Clock
from termvisor.errors import StorageError
from termvisor.log import get_logger
from termvisor.model.detection.detection import Detection
from termvisor.model.ids import SightingId
from termvisor.model.terminal.screen import Screen
from termvisor.model.terminal.screen_row import CapturedScreen, ScreenRow
from termvisor.pipeline.pipeline import Pipeline
from termvisor.pipeline.rule_match import TextLocation
from termvisor.redaction import Redactor, SeenSecrets, can_be_continuation
from termvisor.store import Store
from termvisor.terminal.input_area import find_cursor_row, find_input_rows
from termvisor.terminal.row_normalization import build_row_hasher

_MAX_KNOWN_ROWS = 16_384
"""Rows that are known without asking the store, of all panes together."""
_RECENT_LINES = 500
_FLUSH_INTERVAL_S = 5.0
"""Seconds for which the times at which known rows were seen again are collected."""
_STREAM_LINE_ID = SightingId(-1)

log = get_logger("sightings")


class SightingRecorder:
    def __init__(self, store: Store, pipeline: Pipeline, clock: Clock):
        self._store, self._pipeline, self._clock = store, pipeline, clock
        self._known_rows: dict[int, SightingId] = {}
        """Rows by their fold, those seen last at the end; lines of the stream have no id of their own."""
        self._last_seen_times: dict[SightingId, int] = {}
        self._has_seen_times = asyncio.Event()
        self._store_lock = asyncio.Lock()
        self.storage_error = ""
        """What keeps sightings from being stored right now, for a person to read."""

    async def store_samples(self, samples: Sequence[ScreenSample]) -> None:
        """Store what is new in them; one after the other, so that no row is taken for new twice."""
        async with self._store_lock:
            try:
                await self._store_new([await self._recognize_sample(look) for look in samples])
            except StorageError as error:
                self._report_storage_error(error)
            else:
                self.storage_error = ""

    async def run(self) -> None:
        """Write now and then when known rows were last seen."""
        while True:
            await self._has_seen_times.wait()
            await self._clock.sleep(_FLUSH_INTERVAL_S)
            await self.flush_seen_times()

    async def flush_seen_times(self) -> None:
        """Write when known rows were last seen."""
        times, self._last_seen_times = self._last_seen_times, {}
        self._has_seen_times.clear()
        try:
            await self._store.sightings.record_last_seen(times)
        except StorageError as error:
            self._report_storage_error(error)

    async def _recognize_sample(self, sample: ScreenSample) -> CapturedScreen:
        rows = self._recognize_rows(extract_rows(sample, self._pipeline.get_secrets(sample.lifetime.pane)))
        if not sample.lifetime.is_alternate and any(map(is_new_row, rows)):
            await self._recognize_stream_lines(sample, rows)
            rows = self._recognize_rows(rows)
        return CapturedScreen(sample.lifetime.epoch, _build_screen(sample), rows, self._match_rules(sample, rows))

    def _match_rules(self, sample: ScreenSample, rows: tuple[ScreenRow, ...]) -> tuple[tuple[int, Detection], ...]:
        """What rules find in rows that are new, as far as it is known whose it is; the rest waits for its agent."""
        if not any(map(is_new_row, rows)):
            return ()
        place = TextLocation(pane=sample.lifetime.pane, epoch=sample.lifetime.epoch, source="screen")
        spots = self._pipeline.matcher.match_rows(place, [row.text for row in rows], sample.captured_at)
        new = [spot for spot in spots if is_new_row(rows[spot.line])]
        if waiting := [spot for spot in new if spot.detection is None]:
            self._pipeline.retry_pending_matches(sample.lifetime.pane, waiting)
        return tuple((rows[spot.line].fold, spot.detection) for spot in new if spot.detection is not None)

    def _recognize_rows(self, rows: Iterable[ScreenRow]) -> tuple[ScreenRow, ...]:
        return tuple(self._recognize_row(row) if is_new_row(row) else row for row in rows)

    def _recognize_row(self, row: ScreenRow) -> ScreenRow:
        number = self._known_rows.pop(row.fold, None)
        if number is None:
            return row
        self._known_rows[row.fold] = number
        return replace(row, kind="line") if number == _STREAM_LINE_ID else replace(row, id=number)

    async def _recognize_stream_lines(self, sample: ScreenSample, rows: Iterable[ScreenRow]) -> None:
        """A program that repaints on the main screen prints lines too: those are not stored a second time."""
        pane, fold = sample.lifetime.pane, build_row_hasher(sample.lifetime)
        await self._pipeline.wait_stored(pane)
        lines = {fold(line.text) for line in await self._store.output.read_lines(pane, limit=_RECENT_LINES)}
        for row in rows:
            if is_new_row(row) and row.fold in lines:
                self._remember_row(row.fold, _STREAM_LINE_ID)

    async def _store_new(self, screens: Sequence[CapturedScreen]) -> None:
        """What is stored is told then; rows that are known were seen again."""
        new = [glance for glance in screens if any(map(is_new_row, glance.rows))]
        stored = await self._store.sightings.add(new) if new else []
        for glance in screens:
            self._note_seen_rows(glance.rows, glance.screen.at)
        for glance, one in zip(new, stored, strict=True):
            self._note_seen_rows(one.rows, glance.screen.at)
            if one.screen is not None:
                self._pipeline.changed_panes.publish(glance.screen.pane)
            for event in one.events:
                self._pipeline.events.publish(event)

    def _note_seen_rows(self, rows: Iterable[ScreenRow], at: int) -> None:
        for row in rows:
            if row.id:
                self._remember_row(row.fold, row.id)
                self._last_seen_times[row.id] = at
                self._has_seen_times.set()

    def _remember_row(self, fold: int, number: SightingId) -> None:
        self._known_rows[fold] = number
        if len(self._known_rows) > _MAX_KNOWN_ROWS:
            del self._known_rows[next(iter(self._known_rows))]

    def _report_storage_error(self, error: StorageError) -> None:
        if not self.storage_error:
            log.error("sightings cannot be stored: %s", error)
        self.storage_error = f"sightings cannot be stored: {error}"


def is_new_row(row: ScreenRow) -> bool:
    return row.kind == "sighting" and not row.id and bool(row.text)


def extract_rows(sample: ScreenSample, secrets: SeenSecrets | None = None) -> tuple[ScreenRow, ...]:
    """The rows of a look without secrets, or pieces of those known; those of the input area without their text.

    A first row that may be the rest of a secret is left out: what stood before it scrolled away.
    """
    seen, fold = sample.capture, build_row_hasher(sample.lifetime)
    redactor = Redactor(seen_secrets=SeenSecrets() if secrets is None else secrets)
    texts = redactor.redact_lines([row.rstrip() for row in seen.rows])
    if texts and can_be_continuation(texts[0]):
        texts[0] = ""
    typed = _find_input_rows(seen)
    return tuple(
        ScreenRow("", kind="input") if number in typed else ScreenRow(text, fold(text) if text else 0)
        for number, text in enumerate(texts)
    )


def _find_input_rows(capture: PaneCapture) -> range:
    cursor = find_cursor_row(capture.rows, (capture.width, capture.height), capture.cursor_y)
    return find_input_rows(capture.rows, cursor, has_cursor=capture.has_cursor)


def _build_screen(sample: ScreenSample) -> Screen:
    return sample.capture.to_screen(sample.lifetime.pane, (), sample.captured_at)
