"""Looks become sightings: redacted, without the input area, each row once in the life of its screen.

In: Looks. Out: stored sightings with the screens they stood in, then the news of them. What is known of a life is in
the store; here is only a bounded memory of it, so that a look with nothing new in it costs no write.
"""

import asyncio
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from termvisor.backends.pane_source import Capture
from termvisor.capture.screen_sampler import Look
from termvisor.clock import Clock
from termvisor.errors import StorageError
from termvisor.log import logger
from termvisor.model.detection.detection import Detection
from termvisor.model.ids import SightingId
from termvisor.model.terminal.screen import Screen
from termvisor.model.terminal.screen_row import Glance, Row
from termvisor.pipeline.pipeline import Pipeline
from termvisor.pipeline.rule_match import Place
from termvisor.redaction import Memory, Redactor, may_be_rest
from termvisor.store import Store
from termvisor.terminal.input_area import cursor_row, input_rows
from termvisor.terminal.row_normalization import folds_of

_REMEMBERED = 16_384
"""Rows that are known without asking the store, of all panes together."""
_RECENT_LINES = 500
_NOTE_FOR = 5.0
"""Seconds for which the times at which known rows were seen again are collected."""
_A_LINE = SightingId(-1)

log = logger("sightings")


class Sightings:
    def __init__(self, store: Store, pipeline: Pipeline, clock: Clock):
        self._store, self._pipeline, self._clock = store, pipeline, clock
        self._known: dict[int, SightingId] = {}
        """Rows by their fold, those seen last at the end; lines of the stream have no id of their own."""
        self._seen: dict[SightingId, int] = {}
        self._has_seen = asyncio.Event()
        self._turn = asyncio.Lock()
        self.trouble = ""
        """What keeps sightings from being stored right now, for a person to read."""

    async def take(self, looks: Sequence[Look]) -> None:
        """Store what is new in them; one after the other, so that no row is taken for new twice."""
        async with self._turn:
            try:
                await self._store_new([await self._judged(look) for look in looks])
            except StorageError as error:
                self._troubled(error)
            else:
                self.trouble = ""

    async def run(self) -> None:
        """Write now and then when known rows were last seen."""
        while True:
            await self._has_seen.wait()
            await self._clock.sleep(_NOTE_FOR)
            await self.note()

    async def note(self) -> None:
        """Write when known rows were last seen."""
        times, self._seen = self._seen, {}
        self._has_seen.clear()
        try:
            await self._store.sightings.seen(times)
        except StorageError as error:
            self._troubled(error)

    async def _judged(self, look: Look) -> Glance:
        rows = self._recognised(rows_of(look, self._pipeline.secrets_of(look.life.pane)))
        if not look.life.is_alternate and any(map(is_unknown, rows)):
            await self._recognise_lines(look, rows)
            rows = self._recognised(rows)
        return Glance(look.life.epoch, _screen(look), rows, self._spotted(look, rows))

    def _spotted(self, look: Look, rows: tuple[Row, ...]) -> tuple[tuple[int, Detection], ...]:
        """What rules find in rows that are new, as far as it is known whose it is; the rest waits for its agent."""
        if not any(map(is_unknown, rows)):
            return ()
        place = Place(pane=look.life.pane, epoch=look.life.epoch, source="screen")
        spots = self._pipeline.spotter.spot_rows(place, [row.text for row in rows], look.at)
        new = [spot for spot in spots if is_unknown(rows[spot.line])]
        if waiting := [spot for spot in new if spot.detection is None]:
            self._pipeline.reconsider(look.life.pane, waiting)
        return tuple((rows[spot.line].fold, spot.detection) for spot in new if spot.detection is not None)

    def _recognised(self, rows: Iterable[Row]) -> tuple[Row, ...]:
        return tuple(self._recognise(row) if is_unknown(row) else row for row in rows)

    def _recognise(self, row: Row) -> Row:
        number = self._known.pop(row.fold, None)
        if number is None:
            return row
        self._known[row.fold] = number
        return replace(row, kind="line") if number == _A_LINE else replace(row, id=number)

    async def _recognise_lines(self, look: Look, rows: Iterable[Row]) -> None:
        """A program that repaints on the main screen prints lines too: those are not stored a second time."""
        pane, fold = look.life.pane, folds_of(look.life)
        await self._pipeline.stored(pane)
        lines = {fold(line.text) for line in await self._store.output.lines(pane, limit=_RECENT_LINES)}
        for row in rows:
            if is_unknown(row) and row.fold in lines:
                self._remember(row.fold, _A_LINE)

    async def _store_new(self, glances: Sequence[Glance]) -> None:
        """What is stored is told then; rows that are known were seen again."""
        new = [glance for glance in glances if any(map(is_unknown, glance.rows))]
        stored = await self._store.sightings.add(new) if new else []
        for glance in glances:
            self._note(glance.rows, glance.screen.at)
        for glance, one in zip(new, stored, strict=True):
            self._note(one.rows, glance.screen.at)
            if one.screen is not None:
                self._pipeline.news.publish(glance.screen.pane)
            for event in one.events:
                self._pipeline.events.publish(event)

    def _note(self, rows: Iterable[Row], at: int) -> None:
        for row in rows:
            if row.id:
                self._remember(row.fold, row.id)
                self._seen[row.id] = at
                self._has_seen.set()

    def _remember(self, fold: int, number: SightingId) -> None:
        self._known[fold] = number
        if len(self._known) > _REMEMBERED:
            del self._known[next(iter(self._known))]

    def _troubled(self, error: StorageError) -> None:
        if not self.trouble:
            log.error("sightings cannot be stored: %s", error)
        self.trouble = f"sightings cannot be stored: {error}"


def is_unknown(row: Row) -> bool:
    return row.kind == "sighting" and not row.id and bool(row.text)


def rows_of(look: Look, secrets: Memory | None = None) -> tuple[Row, ...]:
    """The rows of a look without secrets, or pieces of those known; those of the input area without their text.

    A first row that may be the rest of a secret is left out: what stood before it scrolled away.
    """
    seen, fold = look.seen, folds_of(look.life)
    redactor = Redactor(memory=Memory() if secrets is None else secrets)
    texts = redactor.lines([row.rstrip() for row in seen.rows])
    if texts and may_be_rest(texts[0]):
        texts[0] = ""
    typed = _typed(seen)
    return tuple(
        Row("", kind="input") if number in typed else Row(text, fold(text) if text else 0)
        for number, text in enumerate(texts)
    )


def _typed(seen: Capture) -> range:
    cursor = cursor_row(seen.rows, (seen.width, seen.height), seen.cursor_y)
    return input_rows(seen.rows, cursor, has_cursor=seen.has_cursor)


def _screen(look: Look) -> Screen:
    return look.seen.screen(look.life.pane, (), look.at)
