"""Store each detection once, with its event and how it was handled; also store mutes.

Invariant: a detection and its event are stored in one transaction with the text or facts in which they were found.
That transaction also checks for duplicates among the stored rows, so data that is read again after a crash is neither
lost nor reported twice.
"""

from collections.abc import Iterable, Sequence
from typing import cast, get_args

import msgspec
from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.model.detection.detection import Detection, DetectionFilter, DetectionHandling, DetectionMute
from termvisor.model.detection.rule import Severity
from termvisor.model.event import Event, Scalar
from termvisor.model.ids import EventId
from termvisor.store.sqlite import table
from termvisor.store.sqlite.database import Connection
from termvisor.store.tables.events import add_event

_SEVERITIES: tuple[Severity, ...] = get_args(Severity)
_CAPTURES_DECODER = msgspec.json.Decoder(dict[str, str])
_COMPUTED_FIELDS = ("correlation", "handling")
_DETECTIONS = table.RowSelector(
    Detection,
    "detection",
    columns={
        "correlation": "('event:' || event)",
        "handling": "(iif(handled_at IS NULL, 'null',"
        " json_object('at', handled_at, 'by', handled_by, 'action', action_taken, 'run', run)))",
    },
    decoders={
        "severity": _SEVERITIES.__getitem__,
        "captures": _CAPTURES_DECODER.decode,
        "evidence": msgspec.json.Decoder(dict[str, Scalar]).decode,
        "handling": msgspec.json.Decoder(DetectionHandling | None).decode,
    },
)
_MUTES = table.RowSelector(DetectionMute, "mute")
USAGE_LIMIT_TYPE = "usage.reached"
_DAY_NS = 86_400 * NS
# Within this time, a repeated text of an agent that follows the same text counts as a redraw of the screen.
_REDRAW_WINDOW_NS = 12 * 3600 * NS
_SELECT_DUPLICATE = """
SELECT event, captures FROM detection WHERE pane = :pane AND key = :key AND (
    (:cooldown > 0 AND last_at >= :at - :cooldown AND at <= :at + :cooldown)
    OR (:trace <> '' AND trace = :trace AND runtime IS :runtime AND last_at >= :at - :redrawn))
ORDER BY event DESC LIMIT 1
"""
# A usage limit is shown again when an agent redraws or another process resumes the conversation, so limits that reset
# in the same minute count as one (texts have no seconds). A time without a date is parsed as tomorrow's once it has
# passed today, hence the second comparison with an offset of one day.
_SELECT_SAME_LIMIT = """
SELECT event, captures FROM detection WHERE pane = :pane AND type = :type AND agent = :agent
    AND last_at >= :at - :redrawn
    AND min(abs(json_extract(evidence, '$.resets_at') - :ends),
            abs(json_extract(evidence, '$.resets_at') - :ends + :day)) < :minute
ORDER BY event DESC LIMIT 1
"""


class DetectionTable(table.StoreTable):
    @table.run_write
    def add(self, connection: Connection, detections: Sequence[Detection]) -> list[Event]:
        """Store detections in one transaction; return the events of the new ones."""
        return add_detections(connection, detections)

    @table.run_write
    def add_with_event(self, connection: Connection, detection: Detection, event: Event) -> Event:
        """Store a detection with the given event, without looking for duplicates."""
        keyless = replace(detection, key="")
        return add_detection(connection, keyless, event) or event

    @table.run_read
    def find(self, connection: Connection, event: EventId) -> Detection | None:
        return _find_detection(connection, event)

    @table.run_read
    def find_many(self, connection: Connection, events: Iterable[EventId]) -> dict[EventId, Detection]:
        """Return the detections among these events."""
        found = (_find_detection(connection, event) for event in events)
        return {detection.event: detection for detection in found if detection is not None}

    async def list_unhandled(self, after: int = 0, limit: int = 200) -> list[Detection]:
        """Return the first unhandled detections after this event."""
        return await self.list(DetectionFilter(after=after, is_unhandled=True, limit=limit))

    @table.run_durable_write
    def handle(self, connection: Connection, event: EventId, handling: DetectionHandling) -> DetectionHandling | None:
        """Mark a detection as handled; return the stored handling, which is an earlier one if it was handled before.

        Returns None if there is no such detection.
        """
        connection.execute(
            "UPDATE detection SET handled_at = ?, handled_by = ?, action_taken = ?, run = ?"
            " WHERE event = ? AND handled_at IS NULL",
            (handling.at, handling.by, table.replace_surrogates(handling.action), handling.run, event),
        )
        detection = _find_detection(connection, event)
        return None if detection is None else detection.handling

    @table.run_write
    def add_mute(self, connection: Connection, mute: DetectionMute) -> DetectionMute:
        """Store a mute, or extend the one in force with the same scope; return it with its id."""
        row = (mute.what, mute.pane, mute.at, mute.until, mute.by)
        updated = connection.execute(
            "UPDATE mute SET at = ?3, until = ?4, by = ?5"
            " WHERE what = ?1 AND pane IS ?2 AND (until IS NULL OR until > ?3) RETURNING id",
            row,
        ).fetchone()
        if updated:
            return replace(mute, id=updated[0])
        connection.execute("INSERT INTO mute (what, pane, at, until, by) VALUES (?, ?, ?, ?, ?)", row)
        return replace(mute, id=connection.last_insert_rowid())

    @table.run_write
    def delete_mute(self, connection: Connection, number: int) -> bool:
        """Delete a mute; return False if there is none with that id."""
        connection.execute("DELETE FROM mute WHERE id = ?", (number,))
        return bool(connection.changes())

    @table.run_read
    def list_mutes(self, connection: Connection, at: int) -> list[DetectionMute]:
        """Return the mutes in force at this time."""
        clauses = "WHERE until IS NULL OR until > ? ORDER BY id"
        return _MUTES.list(connection, clauses, (at,))

    @table.run_read
    def list(self, connection: Connection, filters: DetectionFilter) -> list[Detection]:
        """Return detections, oldest first: with ``after`` the first ones after that event, else the newest."""
        conditions = {
            "event > ?": filters.after,
            "type GLOB replace(?, '[!', '[^')": filters.type,
            "rule GLOB replace(?, '[!', '[^')": filters.rule,
            "agent = ?": filters.agent,
            "pane = ?": filters.pane,
            "severity >= ?": None if filters.severity is None else _SEVERITIES.index(filters.severity),
            "at >= ?": filters.since,
        }
        where, values = table.build_where(conditions)
        if filters.is_unhandled:
            where += " AND handled_at IS NULL"
        order = "event" if filters.after is not None else "event DESC"
        clauses = f"WHERE {where} ORDER BY {order} LIMIT ?"
        detections = _DETECTIONS.list(connection, clauses, (*values, max(0, filters.limit)))
        return sorted(detections, key=lambda detection: detection.event)


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
    """Count a repeated detection, and add captures and a trace if the first one had none."""
    event, stored_captures = duplicate
    captures = detection.captures | _CAPTURES_DECODER.decode(stored_captures)
    connection.execute(
        "UPDATE detection SET seen_again = seen_again + 1, last_at = max(last_at, ?), captures = ?,"
        " trace = iif(trace = '', ?, trace) WHERE event = ?",
        (detection.at, table.encode_json(captures), detection.trace, event),
    )


def _find_mute(connection: Connection, detection: Detection) -> str:
    # SQLite's GLOB negates with ^, Python's fnmatch with !.
    glob = "replace(what, '[!', '[^')"
    row = connection.execute(
        f"SELECT what FROM mute WHERE (? GLOB {glob} OR ? GLOB {glob}) AND (pane IS NULL OR pane = ?)"
        " AND (until IS NULL OR until > ?) ORDER BY id LIMIT 1",
        (detection.rule, detection.type, detection.pane, detection.at),
    ).fetchone()
    return str(row[0]) if row else ""


def _insert_detection(connection: Connection, detection: Detection) -> None:
    handling = detection.handling
    columns = {name: getattr(detection, name) for name in Detection.__struct_fields__ if name not in _COMPUTED_FIELDS}
    columns |= {
        "severity": _SEVERITIES.index(detection.severity),
        "captures": table.encode_json(detection.captures),
        "evidence": table.encode_json(detection.evidence),
        "last_at": detection.at if detection.last_at is None else detection.last_at,
    }
    if handling is not None:
        columns |= {"handled_at": handling.at, "handled_by": handling.by}
        columns |= {"action_taken": handling.action, "run": handling.run}
    table.insert_row(connection, "detection", columns)


def _find_detection(connection: Connection, event: int) -> Detection | None:
    return _DETECTIONS.find(connection, "WHERE event = ?", (event,))


def _replace_surrogates_in(detection: Detection) -> Detection:
    captures = {
        table.replace_surrogates(name): table.replace_surrogates(value) for name, value in detection.captures.items()
    }
    return replace(
        detection,
        captures=captures,
        context=table.replace_surrogates(detection.context),
        key=table.replace_surrogates(detection.key),
    )
