"""Store the rows of sampled screens as sightings: redacted, without the input area, each row once per screen lifetime.

In: screen samples. Out: stored sightings with their screens, then their events. A bounded cache of known rows keeps a
sample without new rows from costing a write. A quiet screen is not sampled: its rows are visible until it is painted
again or ends, and `record_visible` writes that before a search asks for it.

Rules are matched against all rows of a sample. A match is a detection when it appears: for the first time in its
lifetime, with other captures, or after it was away. Which matches are shown is stored together with their detections.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.capture.screen_sampler import PaintActivity, ScreenSample
from termvisor.clock import Clock
from termvisor.errors import StorageError
from termvisor.log import get_logger
from termvisor.model.detection.detection import Detection
from termvisor.model.ids import PaneId, SightingId
from termvisor.model.terminal.screen import CapturedScreen, ScreenLifetime, ScreenRow
from termvisor.pipeline.pipeline import Pipeline
from termvisor.pipeline.rule_matcher import RuleMatch, TextLocation
from termvisor.pipeline.shown_matches import ShownMatches, build_identity, follow_matches
from termvisor.redaction import Redactor, SeenSecrets, can_be_continuation
from termvisor.store import Store
from termvisor.terminal.input_area import find_input_rows, locate_cursor
from termvisor.terminal.row_normalization import build_row_hasher

# Size of the cache of known rows, shared by all panes.
_MAX_KNOWN_ROWS = 16_384
# Number of panes whose shown matches are cached.
_MAX_KNOWN_SCREENS = 1024
# Number of stored lines with which a new row is compared, to distinguish printed lines from painted ones.
_RECENT_LINES = 500
# How long to collect the last-seen times of known rows before writing them.
_FLUSH_INTERVAL_S = 5.0
_STREAM_LINE_ID = SightingId(-1)
"""Cached for rows that were printed as lines and therefore have no sighting."""

log = get_logger("pipeline.screens")


class _VisibleRows(Struct):
    """The rows of a pane's last sample, which are visible until the next one; ``seen_at`` is written or pending."""

    lifetime: ScreenLifetime
    rows: list[SightingId]
    seen_at: int


class MatchedScreen(Struct, frozen=True, array_like=True):
    """The rule matches that the last sample of a screen lifetime showed; stored by position."""

    lifetime: ScreenLifetime
    matches: ShownMatches = ()


class SightingRecorder:
    def __init__(self, store: Store, pipeline: Pipeline, clock: Clock):
        self._store, self._pipeline, self._clock = store, pipeline, clock
        self._known_rows: dict[int, SightingId] = {}
        """Sighting ids by row hash, the most recently seen last."""
        self._matched_screens: dict[PaneId, MatchedScreen] = {}
        """What was stored last for each pane."""
        self._last_seen_times: dict[SightingId, int] = {}
        self._has_seen_times = asyncio.Event()
        self._lifetimes: dict[PaneId, ScreenLifetime] = {}
        """Current screen lifetimes of the panes that repaint."""
        self._visible: dict[PaneId, _VisibleRows] = {}
        # Samples are stored one at a time: two concurrent ones would both treat the same row as new.
        self._store_lock = asyncio.Lock()
        self.storage_error = ""
        """Error message while sightings cannot be stored; empty otherwise."""

    async def store_samples(self, samples: Sequence[ScreenSample]) -> None:
        """Store the new rows of the samples and record when the known ones were seen."""
        async with self._store_lock:
            try:
                stored = await self._store_new([await self._recognize_sample(sample) for sample in samples])
            except StorageError as error:
                # Unlike text, samples are not kept for a retry, because the next ones show the rows again.
                self._report_storage_error(error)
            else:
                self.storage_error = ""
                for sample, rows in zip(samples, stored, strict=True):
                    self._note_visible_rows(sample, rows)

    def note_activity(self, activity: PaintActivity) -> None:
        """Follow the lifetimes of screens. Called for every chunk of output, so it must be cheap."""
        current = self._lifetimes.get(activity.pane)
        # The end of an older epoch may arrive after the first paint of the next one.
        if current == activity.lifetime or (activity.lifetime is None and current and current.epoch != activity.epoch):
            return
        if (shown := self._visible.pop(activity.pane, None)) is not None:
            self._record_seen(shown.rows, self._clock.now())
        if activity.lifetime is None:
            del self._lifetimes[activity.pane]
        else:
            self._lifetimes[activity.pane] = activity.lifetime

    async def record_visible(self, since: int) -> None:
        """Write that the rows which are visible now are so, unless they were seen since this time anyway."""
        now = self._clock.now()
        for shown in self._visible.values():
            if shown.seen_at < since:
                self._record_seen(shown.rows, now)
                shown.seen_at = now
        if self._last_seen_times:
            await self.flush_seen_times()

    async def run(self) -> None:
        """Write the last-seen times of known rows periodically."""
        while True:
            await self._has_seen_times.wait()
            await self._clock.sleep(_FLUSH_INTERVAL_S)
            await self.flush_seen_times()

    async def flush_seen_times(self) -> None:
        """Write the collected last-seen times of known rows."""
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
        screen = sample.capture.to_screen(sample.lifetime.pane, (), sample.captured_at)
        before = await self._find_matched_screen(sample.lifetime)
        matched, found = self._match_rules(sample, rows, before)
        shown_matches = None if matched == before else msgspec.msgpack.encode(matched)
        return CapturedScreen(sample.lifetime.epoch, screen, rows, found, shown_matches)

    async def _find_matched_screen(self, lifetime: ScreenLifetime) -> MatchedScreen:
        """Return what the last sample showed; nothing if it was of another lifetime."""
        matched = self._matched_screens.get(lifetime.pane)
        if matched is None or matched.lifetime.epoch != lifetime.epoch:
            # The first sample of this daemon: an earlier daemon may have stored one.
            stored = await self._store.sightings.read_shown_matches(lifetime.epoch)
            matched = msgspec.msgpack.decode(stored, type=MatchedScreen) if stored else MatchedScreen(lifetime)
            self._remember_matched_screen(matched)
        return matched if matched.lifetime == lifetime else MatchedScreen(lifetime)

    def _match_rules(
        self, sample: ScreenSample, rows: tuple[ScreenRow, ...], before: MatchedScreen
    ) -> tuple[MatchedScreen, tuple[tuple[int, Detection], ...]]:
        """Return the shown matches, and the detections in those that appeared; without a known agent they are pending.

        Rows that are lines of the stream are matched there.
        """
        location = TextLocation(pane=sample.lifetime.pane, epoch=sample.lifetime.epoch, source="screen")
        matches = [
            (match, build_identity(match.rule.id, repr(sorted(match.unowned_detection.captures.items()))))
            for match in self._pipeline.matcher.match_rows(location, [row.text for row in rows], sample.captured_at)
            if rows[match.line].kind == "sighting"
        ]
        if not matches and not before.matches:
            return before, ()
        visible = Counter(identity for _, identity in matches)
        if not sample.lifetime.is_alternate:
            # A redraw of the main screen may leave the old rows above the new ones.
            visible = Counter(dict.fromkeys(visible, 1))
        shown, appeared = follow_matches(before.matches, visible, sample.captured_at)
        known = {one.identity for one in before.matches}
        # The last of several equal rows is the newest. A match that is back is no redraw of the first one.
        newest: dict[str, RuleMatch] = {name: match for match, name in matches if name in appeared}
        new_matches = [match.drop_trace() if name in known else match for name, match in newest.items()]
        if unowned := [match for match in new_matches if match.detection is None]:
            self._pipeline.retry_pending_matches(sample.lifetime.pane, unowned)
        found = tuple((rows[one.line].fold, one.detection) for one in new_matches if one.detection is not None)
        return MatchedScreen(sample.lifetime, shown), found

    def _recognize_rows(self, rows: Iterable[ScreenRow]) -> tuple[ScreenRow, ...]:
        return tuple(self._recognize_row(row) if is_new_row(row) else row for row in rows)

    def _recognize_row(self, row: ScreenRow) -> ScreenRow:
        row_id = self._known_rows.pop(row.fold, None)
        if row_id is None:
            return row
        self._known_rows[row.fold] = row_id
        return replace(row, kind="line") if row_id == _STREAM_LINE_ID else replace(row, id=row_id)

    async def _recognize_stream_lines(self, sample: ScreenSample, rows: Iterable[ScreenRow]) -> None:
        """Mark rows as known if they were printed as lines: programs on the main screen both print and repaint."""
        pane, hash_row = sample.lifetime.pane, build_row_hasher(sample.lifetime)
        await self._pipeline.wait_stored(pane)
        printed = await self._pipeline.lines.read_printed(pane, _RECENT_LINES)
        lines = {hash_row(line.text) for line in printed}
        for row in rows:
            if is_new_row(row) and row.fold in lines:
                self._remember_row(row.fold, _STREAM_LINE_ID)

    async def _store_new(self, screens: Sequence[CapturedScreen]) -> list[tuple[ScreenRow, ...]]:
        """Store the screens with new rows or other matches and publish their events.

        Return the rows of each screen with their ids.
        """
        new_screens = [
            screen for screen in screens if screen.shown_matches is not None or any(map(is_new_row, screen.rows))
        ]
        results = await self._store.sightings.add(new_screens) if new_screens else []
        stored = {id(screen): result.rows for screen, result in zip(new_screens, results, strict=True)}
        rows_by_screen = [stored.get(id(screen), screen.rows) for screen in screens]
        for screen, rows in zip(screens, rows_by_screen, strict=True):
            self._note_seen_rows(rows, screen.screen.at)
        for screen, result in zip(new_screens, results, strict=True):
            if screen.shown_matches is not None:
                self._remember_matched_screen(msgspec.msgpack.decode(screen.shown_matches, type=MatchedScreen))
            if result.screen is not None:
                self._pipeline.changed_panes.publish(screen.screen.pane)
            for event in result.events:
                self._pipeline.events.publish(event)
        return rows_by_screen

    def _note_seen_rows(self, rows: Sequence[ScreenRow], at: int) -> None:
        for row in rows:
            if row.id:
                self._remember_row(row.fold, row.id)
        self._record_seen((row.id for row in rows if row.id), at)

    def _note_visible_rows(self, sample: ScreenSample, rows: Iterable[ScreenRow]) -> None:
        lifetime, at = sample.lifetime, sample.captured_at
        # The screen may have ended while its sample was stored.
        if self._lifetimes.get(lifetime.pane) != lifetime:
            return
        if (before := self._visible.get(lifetime.pane)) is not None:
            # They were visible until the program painted again, which this sample follows at once.
            self._record_seen(before.rows, at)
        self._visible[lifetime.pane] = _VisibleRows(lifetime, [row.id for row in rows if row.id], at)

    def _record_seen(self, rows: Iterable[SightingId], at: int) -> None:
        self._last_seen_times.update(dict.fromkeys(rows, at))
        if self._last_seen_times:
            self._has_seen_times.set()

    def _remember_row(self, fold: int, row_id: SightingId) -> None:
        self._known_rows[fold] = row_id
        if len(self._known_rows) > _MAX_KNOWN_ROWS:
            del self._known_rows[next(iter(self._known_rows))]

    def _remember_matched_screen(self, matched: MatchedScreen) -> None:
        self._matched_screens.pop(matched.lifetime.pane, None)
        self._matched_screens[matched.lifetime.pane] = matched
        if len(self._matched_screens) > _MAX_KNOWN_SCREENS:
            del self._matched_screens[next(iter(self._matched_screens))]

    def _report_storage_error(self, error: StorageError) -> None:
        if not self.storage_error:
            log.error("sightings cannot be stored: %s", error)
        self.storage_error = f"sightings cannot be stored: {error}"


def is_new_row(row: ScreenRow) -> bool:
    return row.kind == "sighting" and not row.id and bool(row.text)


def extract_rows(sample: ScreenSample, secrets: SeenSecrets | None = None) -> tuple[ScreenRow, ...]:
    """Return the redacted rows of a sample; rows of the input area lose their text.

    The first row is blanked if it may continue a secret whose beginning has scrolled away.
    """
    capture, hash_row = sample.capture, build_row_hasher(sample.lifetime)
    redactor = Redactor(seen_secrets=SeenSecrets() if secrets is None else secrets)
    texts = redactor.redact_lines([row.rstrip() for row in capture.rows])
    if texts and can_be_continuation(texts[0]):
        texts[0] = ""
    located = locate_cursor(capture.rows, (capture.width, capture.height), capture.cursor_x, capture.cursor_y)
    cursor = len(capture.rows) if located is None else located[0]
    input_rows = find_input_rows(capture.rows, cursor, has_cursor=capture.has_cursor)
    return tuple(
        ScreenRow("", kind="input") if number in input_rows else ScreenRow(text, hash_row(text) if text else 0)
        for number, text in enumerate(texts)
    )
