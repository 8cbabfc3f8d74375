"""Store detections once each, with their events, how they were handled, and mutes.

Invariant: a detection and its event are stored in one transaction, together with the text or the facts that they come
from. Duplicates are detected in that transaction against the stored rows, so data that is read again after a crash
is neither lost nor reported twice.
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
from termvisor.store.sqlite.rows import RowSelector, build_where, encode_json, replace_surrogates
from termvisor.store.tables.events import add_event

_COLUMNS = (
    "event, at, type, rule, pane, runtime, agent, severity, captures, source, evidence, context, confidence, key,"
    " cooldown, trace, seen_again, last_at, handled_at, handled_by, action_taken, run"
)
_SEVERITIES: tuple[Severity, ...] = get_args(Severity)
_CAPTURES_DECODER = msgspec.json.Decoder(dict[str, str])
_EVIDENCE_DECODER = msgspec.json.Decoder(dict[str, Scalar])
_MUTES = RowSelector(DetectionMute, "mute")
USAGE_LIMIT_TYPE = "usage.reached"
_DAY_NS = 86_400 * NS
_REDRAW_WINDOW_NS = 12 * 3600 * NS
"""Within this time an agent's text with the same text before it counts as a redraw of the screen."""
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
"""A usage limit is shown again when an agent redraws or another process resumes the conversation, so limits that end
in the same minute are one. Texts have no seconds; a time without a date is parsed as the next day's once it is past,
hence the comparison one day off."""


class DetectionTable:
    def __init__(self, db: Database):
        self._db = db

    async def add(self, detections: Sequence[Detection]) -> list[Event]:
        """Store detections in one transaction; return the events of the new ones."""
        return await self._db.write(lambda connection: add_detections(connection, detections))

    async def add_with_event(self, detection: Detection, event: Event) -> Event:
        """Store a detection with the given event, without looking for duplicates."""
        keyless = replace(detection, key="")
        return await self._db.write(lambda connection: add_detection(connection, keyless, event) or event)

    async def find(self, event: EventId) -> Detection | None:
        return await self._db.read(lambda connection: _find_detection(connection, event))

    async def find_many(self, events: Iterable[EventId]) -> dict[EventId, Detection]:
        """Return the detections among these events."""
        ids = list(events)
        return await self._db.read(lambda connection: dict(_find_detections(connection, ids))) if ids else {}

    async def list_unhandled(self, after: int = 0, limit: int = 200) -> list[Detection]:
        """Return the first unhandled detections after this event."""
        return await self.list(DetectionFilter(after=after, is_unhandled=True, limit=limit))

    async def handle(self, event: EventId, handling: DetectionHandling) -> DetectionHandling | None:
        """Mark a detection as handled; return the stored handling, which is an earlier one if it was handled before.

        Returns None if there is no such detection.
        """
        return await self._db.write_durably(lambda connection: _handle_detection(connection, event, handling))

    async def add_mute(self, mute: DetectionMute) -> DetectionMute:
        """Store a mute, or extend the one in force with the same scope; return it with its id."""
        return await self._db.write(lambda connection: _add_mute(connection, mute))

    async def delete_mute(self, number: int) -> bool:
        """Delete a mute; return False if there is none with that id."""
        return await self._db.write(lambda connection: _delete_mute(connection, number))

    async def list_mutes(self, at: int) -> list[DetectionMute]:
        """Return the mutes in force at this time."""
        clauses = "WHERE until IS NULL OR until > ? ORDER BY id"
        return await self._db.read(lambda connection: _MUTES.list(connection, clauses, (at,)))

    async def list(self, filters: DetectionFilter) -> list[Detection]:
        """Return detections, oldest first: with ``after`` the first ones after that event, else the newest."""
        return await self._db.read(lambda connection: _list_detections(connection, filters))


def add_detections(connection: Connection, detections: Sequence[Detection]) -> list[Event]:
    """Store detections inside the caller's transaction; return the events of the new ones."""
    stored = (add_detection(connection, detection) for detection in detections)
    return [event for event in stored if event is not None]


def add_detection(connection: Connection, detection: Detection, event: Event | None = None) -> Event | None:
    """Store a detection with ``event`` or an event built from it; return the stored event.

    A duplicate is counted on the stored detection instead, and None is returned.
    """
    clean = _replace_surrogates_in(detection)
    if clean.key and (duplicate := _find_duplicate(connection, clean)):
        _count_repeat(connection, duplicate, clean)
        return None
    stored = add_event(connection, event or build_detection_event(clean))
    muted = _find_mute(connection, clean)
    handling = clean.handling or (DetectionHandling(at=clean.at, by=f"mute:{muted}") if muted else None)
    _insert_detection(connection, replace(clean, event=stored.id, handling=handling))
    return stored


def build_detection_event(detection: Detection) -> Event:
    """Build the event that reports a detection in the event stream."""
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
    row = connection.execute(_SELECT_DUPLICATE, values).fetchone()
    resets_at = detection.evidence.get("resets_at")
    if row is None and detection.type == USAGE_LIMIT_TYPE and isinstance(resets_at, int):
        limit = {"type": USAGE_LIMIT_TYPE, "agent": detection.agent, "ends": resets_at, "minute": 60 * NS}
        row = connection.execute(_SELECT_SAME_LIMIT, values | limit | {"day": _DAY_NS}).fetchone()
    return cast("tuple[int, str] | None", row)


def _count_repeat(connection: Connection, duplicate: tuple[int, str], detection: Detection) -> None:
    """Count a repeated detection and add captures and a trace that the first one did not have."""
    event, stored_captures = duplicate
    captures = detection.captures | _CAPTURES_DECODER.decode(stored_captures)
    connection.execute(
        "UPDATE detection SET seen_again = seen_again + 1, last_at = max(last_at, ?), captures = ?,"
        " trace = iif(trace = '', ?, trace) WHERE event = ?",
        (detection.at, encode_json(captures), detection.trace, event),
    )


def _find_mute(connection: Connection, detection: Detection) -> str:
    glob = "replace(what, '[!', '[^')"  # SQLite's GLOB negates with ^, Python's fnmatch with !
    row = connection.execute(
        f"SELECT what FROM mute WHERE (? GLOB {glob} OR ? GLOB {glob}) AND (pane IS NULL OR pane = ?)"
        " AND (until IS NULL OR until > ?) ORDER BY id LIMIT 1",
        (detection.rule, detection.type, detection.pane, detection.at),
    ).fetchone()
    return str(row[0]) if row else ""


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
        encode_json(detection.captures),
        detection.source,
        encode_json(detection.evidence),
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
        if (detection := _find_detection(connection, event)) is not None:
            yield event, detection


def _list_detections(connection: Connection, filters: DetectionFilter) -> list[Detection]:
    conditions = {
        "event > ?": filters.after,
        "type GLOB replace(?, '[!', '[^')": filters.type,
        "rule GLOB replace(?, '[!', '[^')": filters.rule,
        "agent = ?": filters.agent,
        "pane = ?": filters.pane,
        "severity >= ?": None if filters.severity is None else _SEVERITIES.index(filters.severity),
        "at >= ?": filters.since,
    }
    where, values = build_where(conditions)
    if filters.is_unhandled:
        where += " AND handled_at IS NULL"
    order = "event" if filters.after is not None else "event DESC"
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM detection WHERE {where} ORDER BY {order} LIMIT ?", (*values, max(0, filters.limit))
    )
    return sorted(map(_build_detection, rows), key=lambda detection: detection.event)


def _handle_detection(connection: Connection, event: int, handling: DetectionHandling) -> DetectionHandling | None:
    connection.execute(
        "UPDATE detection SET handled_at = ?, handled_by = ?, action_taken = ?, run = ?"
        " WHERE event = ? AND handled_at IS NULL",
        (handling.at, handling.by, replace_surrogates(handling.action), handling.run, event),
    )
    detection = _find_detection(connection, event)
    return None if detection is None else detection.handling


def _add_mute(connection: Connection, mute: DetectionMute) -> DetectionMute:
    row = (mute.what, mute.pane, mute.at, mute.until, mute.by)
    updated = connection.execute(
        "UPDATE mute SET at = ?3, until = ?4, by = ?5 WHERE what = ?1 AND pane IS ?2 AND (until IS NULL OR until > ?3)"
        " RETURNING id",
        row,
    ).fetchone()
    if updated:
        return replace(mute, id=updated[0])
    connection.execute("INSERT INTO mute (what, pane, at, until, by) VALUES (?, ?, ?, ?, ?)", row)
    return replace(mute, id=connection.last_insert_rowid())


def _delete_mute(connection: Connection, number: int) -> bool:
    connection.execute("DELETE FROM mute WHERE id = ?", (number,))
    return bool(connection.changes())


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
