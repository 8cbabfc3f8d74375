"""What rules found and agents told: each thing once, with its event, and what became of it.

Invariant: a detection and its event are stored in one transaction, together with the text or the facts that they come
from. Whether the same was told a moment ago is judged in that transaction, against what is stored: so whatever is read
again after a crash is neither lost nor told twice.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast, get_args

import msgspec
from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.model.detection.detection import Detection, DetectionFilter, DetectionHandling, DetectionMute
from termvisor.model.detection.rule import Severity
from termvisor.model.event import Event, Scalar
from termvisor.model.ids import EventId
from termvisor.store.sqlite.database import Connection, Database
from termvisor.store.sqlite.text_encoding import replace_surrogates
from termvisor.store.tables.events import add_event

_COLUMNS = (
    "event, at, type, rule, pane, runtime, agent, severity, captures, source, evidence, context, confidence, key,"
    " cooldown, trace, seen_again, last_at, handled_at, handled_by, action_taken, run"
)
_SEVERITIES: tuple[Severity, ...] = get_args(Severity)
_CAPTURES_DECODER = msgspec.json.Decoder(dict[str, str])
_EVIDENCE_DECODER = msgspec.json.Decoder(dict[str, Scalar])
USAGE_LIMIT_TYPE = "usage.reached"
_DAY_NS = 86_400 * NS
_REDRAW_WINDOW_NS = 12 * 3600 * NS
"""For so long a text of an agent with the same text before it is taken for a redraw."""
_SELECT_DUPLICATE = """
SELECT event, captures FROM detection WHERE pane = :pane AND key = :key AND (
    (:cooldown > 0 AND last_at >= :at - :cooldown AND at <= :at + :cooldown)
    OR (:trace <> '' AND trace = :trace AND runtime IS :runtime AND last_at >= :at - :redrawn))
ORDER BY event DESC LIMIT 1
"""
_SELECT_SAME_LIMIT = """
SELECT event, captures FROM detection WHERE pane = :pane AND type = :type AND agent = :agent
    AND last_at >= :at - :redrawn
    AND min(abs(json_extract(evidence, '$.resets_at') - :ends),
            abs(json_extract(evidence, '$.resets_at') - :ends + :day)) < :minute
ORDER BY event DESC LIMIT 1
"""
"""What was said of a limit is shown again: by an agent that is drawn anew, or that takes a conversation up as another
process. So one that ends in the same minute is the same. Texts tell no seconds, and what they tell without a date is
taken for the next day's once it is past."""


class DetectionTable:
    def __init__(self, db: Database):
        self._db = db

    async def add(self, detections: Sequence[Detection]) -> list[Event]:
        """Store them in a transaction of their own; the events of those that are new."""
        return await self._db.write(lambda connection: add_detections(connection, detections))

    async def add_with_event(self, detection: Detection, event: Event) -> Event:
        """Store one that is told as this event; it is new, whatever was told before."""
        keyless = replace(detection, key="")
        return await self._db.write(lambda connection: add_detection(connection, keyless, event) or event)

    async def find(self, event: EventId) -> Detection | None:
        return await self._db.read(lambda connection: _find_detection(connection, event))

    async def find_many(self, events: Iterable[EventId]) -> dict[EventId, Detection]:
        """Those of these events that are detections."""
        wanted = list(events)
        return await self._db.read(lambda connection: dict(_find_detections(connection, wanted))) if wanted else {}

    async def list_unhandled(self, after: int = 0, limit: int = 200) -> list[Detection]:
        """The first ones beyond this event that nobody has seen to."""
        return await self.list(DetectionFilter(after=after, is_unhandled=True, limit=limit))

    async def handle(self, event: EventId, handling: DetectionHandling) -> DetectionHandling | None:
        """The handling that stands now: this one, or that of whoever was first. None where there is no such event."""
        return await self._db.write_durably(lambda connection: _handle_detection(connection, event, handling))

    async def add_mute(self, mute: DetectionMute) -> DetectionMute:
        """The same one with its number."""
        return await self._db.write(lambda connection: _add_mute(connection, mute))

    async def delete_mute(self, number: int) -> bool:
        """Whether there was one."""
        return await self._db.write(lambda connection: _delete_mute(connection, number))

    async def list_mutes(self, at: int) -> list[DetectionMute]:
        """Those that still hold."""
        query = "SELECT id, what, pane, at, until, by FROM mute WHERE until IS NULL OR until > ? ORDER BY id"
        return await self._db.read(lambda connection: [_build_mute(row) for row in connection.execute(query, (at,))])

    async def list(self, filters: DetectionFilter) -> list[Detection]:
        """Oldest first: with ``after`` the first ones beyond that event, else the newest."""
        return await self._db.read(lambda connection: _list_detections(connection, filters))


def add_detections(connection: Connection, detections: Sequence[Detection]) -> list[Event]:
    stored = (add_detection(connection, detection) for detection in detections)
    return [event for event in stored if event is not None]


def add_detection(connection: Connection, detection: Detection, event: Event | None = None) -> Event | None:
    """Its event, or the one that is given in its place; None where it is what was told before, which is counted."""
    clean = _replace_surrogates_in(detection)
    if clean.key and (found := _find_duplicate(connection, clean)):
        _count_repeat(connection, found, clean)
        return None
    stored = add_event(connection, event or build_detection_event(clean))
    muted = _find_mute(connection, clean)
    handling = clean.handling or (DetectionHandling(at=clean.at, by=f"mute:{muted}") if muted else None)
    _insert_detection(connection, replace(clean, event=stored.id, handling=handling))
    return stored


def build_detection_event(detection: Detection) -> Event:
    """A detection as the stream of events tells it."""
    return Event(at=detection.at, kind=detection.type, pane=detection.pane, data=detection.event_data)


def _find_duplicate(connection: Connection, detection: Detection) -> tuple[int, str] | None:
    values = {
        "pane": detection.pane,
        "key": detection.key,
        "at": detection.at,
        "cooldown": int(detection.cooldown * NS),
        "trace": detection.trace,
        "runtime": detection.runtime,
        "redrawn": _REDRAW_WINDOW_NS,
    }
    found = connection.execute(_SELECT_DUPLICATE, values).fetchone()
    ends = detection.evidence.get("resets_at")
    if found is None and detection.type == USAGE_LIMIT_TYPE and isinstance(ends, int):
        limit = {"type": USAGE_LIMIT_TYPE, "agent": detection.agent, "ends": ends, "minute": 60 * NS, "day": _DAY_NS}
        found = connection.execute(_SELECT_SAME_LIMIT, values | limit).fetchone()
    return cast("tuple[int, str] | None", found)


def _count_repeat(connection: Connection, found: tuple[int, str], detection: Detection) -> None:
    """What is seen again may tell more than it did at first; its text, too, is known when it is drawn again."""
    event, told = found
    captures = detection.captures | _CAPTURES_DECODER.decode(told)
    connection.execute(
        "UPDATE detection SET seen_again = seen_again + 1, last_at = max(last_at, ?), captures = ?,"
        " trace = iif(trace = '', ?, trace) WHERE event = ?",
        (detection.at, _encode_json(captures), detection.trace, event),
    )


def _find_mute(connection: Connection, detection: Detection) -> str:
    glob = "replace(what, '[!', '[^')"
    found = connection.execute(
        f"SELECT what FROM mute WHERE (? GLOB {glob} OR ? GLOB {glob}) AND (pane IS NULL OR pane = ?)"
        " AND (until IS NULL OR until > ?) ORDER BY id LIMIT 1",
        (detection.rule, detection.type, detection.pane, detection.at),
    ).fetchone()
    return str(found[0]) if found else ""


def _insert_detection(connection: Connection, detection: Detection) -> None:
    handling = detection.handling
    row = (
        detection.event,
        detection.at,
        detection.type,
        detection.rule,
        detection.pane,
        detection.runtime,
        detection.agent,
        _SEVERITIES.index(detection.severity),
        _encode_json(detection.captures),
        detection.source,
        _encode_json(detection.evidence),
        detection.context,
        detection.confidence,
        detection.key,
        detection.cooldown,
        detection.trace,
        detection.seen_again,
        detection.at if detection.last_at is None else detection.last_at,
    )
    handled = (None, "", "", None) if handling is None else (handling.at, handling.by, handling.action, handling.run)
    places = ", ".join("?" * (len(row) + len(handled)))
    connection.execute(f"INSERT INTO detection ({_COLUMNS}) VALUES ({places})", (*row, *handled))


def _find_detection(connection: Connection, event: int) -> Detection | None:
    row = connection.execute(f"SELECT {_COLUMNS} FROM detection WHERE event = ?", (event,)).fetchone()
    return None if row is None else _build_detection(row)


def _find_detections(connection: Connection, events: Sequence[EventId]) -> Iterator[tuple[EventId, Detection]]:
    for event in events:
        if (found := _find_detection(connection, event)) is not None:
            yield event, found


def _list_detections(connection: Connection, filters: DetectionFilter) -> list[Detection]:
    conditions: dict[str, Any] = {
        "event > ?": filters.after,
        "type GLOB replace(?, '[!', '[^')": filters.type,
        "rule GLOB replace(?, '[!', '[^')": filters.rule,
        "agent = ?": filters.agent,
        "pane = ?": filters.pane,
        "severity >= ?": None if filters.severity is None else _SEVERITIES.index(filters.severity),
        "at >= ?": filters.since,
    }
    given = {condition: value for condition, value in conditions.items() if value is not None}
    where = [*given, *(["handled_at IS NULL"] if filters.is_unhandled else [])]
    order = "event" if filters.after is not None else "event DESC"
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM detection WHERE {' AND '.join(where) or 'TRUE'} ORDER BY {order} LIMIT ?",
        (*given.values(), max(0, filters.limit)),
    )
    return sorted((_build_detection(row) for row in cast("Iterator[tuple[Any, ...]]", rows)), key=lambda one: one.event)


def _handle_detection(connection: Connection, event: int, handling: DetectionHandling) -> DetectionHandling | None:
    connection.execute(
        "UPDATE detection SET handled_at = ?, handled_by = ?, action_taken = ?, run = ?"
        " WHERE event = ? AND handled_at IS NULL",
        (handling.at, handling.by, replace_surrogates(handling.action), handling.run, event),
    )
    found = _find_detection(connection, event)
    return None if found is None else found.handling


def _add_mute(connection: Connection, mute: DetectionMute) -> DetectionMute:
    row = (mute.what, mute.pane, mute.at, mute.until, mute.by)
    again = (mute.at, mute.until, mute.by, mute.what, mute.pane, mute.at)
    query = "UPDATE mute SET at = ?, until = ?, by = ? WHERE what = ? AND pane IS ? AND (until IS NULL OR until > ?)"
    if found := connection.execute(f"{query} RETURNING id", again).fetchone():
        return replace(mute, id=found[0])
    connection.execute("INSERT INTO mute (what, pane, at, until, by) VALUES (?, ?, ?, ?, ?)", row)
    return replace(mute, id=connection.last_insert_rowid())


def _delete_mute(connection: Connection, number: int) -> bool:
    connection.execute("DELETE FROM mute WHERE id = ?", (number,))
    return bool(connection.changes())


def _build_mute(row: tuple[Any, ...]) -> DetectionMute:
    number, what, pane, at, until, by = row
    return DetectionMute(id=number, what=what, pane=pane, at=at, until=until, by=by)


def _build_detection(row: tuple[Any, ...]) -> Detection:
    event, at, kind, rule, pane, runtime, agent, severity, captures, source, evidence, context, *rest = row
    confidence, key, cooldown, trace, seen_again, last_at, handled_at, handled_by, action, run = rest
    is_handled = handled_at is not None
    return Detection(
        event=event,
        at=at,
        type=kind,
        rule=rule,
        pane=pane,
        runtime=runtime,
        agent=agent,
        severity=_SEVERITIES[severity],
        captures=_CAPTURES_DECODER.decode(captures),
        source=source,
        evidence=_EVIDENCE_DECODER.decode(evidence),
        context=context,
        confidence=confidence,
        key=key,
        cooldown=cooldown,
        trace=trace,
        seen_again=seen_again,
        last_at=last_at,
        correlation=f"event:{event}",
        handling=DetectionHandling(at=handled_at, by=handled_by, action=action, run=run) if is_handled else None,
    )


def _replace_surrogates_in(detection: Detection) -> Detection:
    captures = {replace_surrogates(name): replace_surrogates(value) for name, value in detection.captures.items()}
    return replace(
        detection,
        captures=captures,
        context=replace_surrogates(detection.context),
        key=replace_surrogates(detection.key),
    )


def _encode_json(value: object) -> str:
    return msgspec.json.encode(value).decode()
