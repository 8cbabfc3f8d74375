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
from termvisor.model.detection.detection import Detection, DetectionFilter, Handling, Mute
from termvisor.model.detection.rule import Severity
from termvisor.model.event import Event, Scalar
from termvisor.model.ids import EventId
from termvisor.store.sqlite.database import Connection, Database
from termvisor.store.sqlite.text_encoding import storable
from termvisor.store.tables.events import add_event

_COLUMNS = (
    "event, at, type, rule, pane, runtime, agent, severity, captures, source, evidence, context, confidence, key,"
    " cooldown, trace, seen_again, last_at, handled_at, handled_by, action_taken, run"
)
_SEVERITIES: tuple[Severity, ...] = get_args(Severity)
_CAPTURES = msgspec.json.Decoder(dict[str, str])
_EVIDENCE = msgspec.json.Decoder(dict[str, Scalar])
LIMIT = "usage.reached"
_A_DAY = 86_400 * NS
_REDRAWN_FOR = 12 * 3600 * NS
"""For so long a text of an agent with the same text before it is taken for a redraw."""
_AGAIN = """
SELECT event, captures FROM detection WHERE pane = :pane AND key = :key AND (
    (:cooldown > 0 AND last_at >= :at - :cooldown AND at <= :at + :cooldown)
    OR (:trace <> '' AND trace = :trace AND runtime IS :runtime AND last_at >= :at - :redrawn))
ORDER BY event DESC LIMIT 1
"""
_SAME_END = """
SELECT event, captures FROM detection WHERE pane = :pane AND type = :type AND agent = :agent
    AND last_at >= :at - :redrawn
    AND min(abs(json_extract(evidence, '$.resets_at') - :ends),
            abs(json_extract(evidence, '$.resets_at') - :ends + :day)) < :minute
ORDER BY event DESC LIMIT 1
"""
"""What was said of a limit is shown again: by an agent that is drawn anew, or that takes a conversation up as another
process. So one that ends in the same minute is the same. Texts tell no seconds, and what they tell without a date is
taken for the next day's once it is past."""


class Detections:
    def __init__(self, db: Database):
        self._db = db

    async def add(self, detections: Sequence[Detection]) -> list[Event]:
        """Store them in a transaction of their own; the events of those that are new."""
        return await self._db.write(lambda connection: add_detections(connection, detections))

    async def report(self, detection: Detection, event: Event) -> Event:
        """Store one that is told as this event; it is new, whatever was told before."""
        keyless = replace(detection, key="")
        return await self._db.write(lambda connection: add_detection(connection, keyless, event) or event)

    async def one(self, event: EventId) -> Detection | None:
        return await self._db.read(lambda connection: _one(connection, event))

    async def some(self, events: Iterable[EventId]) -> dict[EventId, Detection]:
        """Those of these events that are detections."""
        wanted = list(events)
        return await self._db.read(lambda connection: dict(_some(connection, wanted))) if wanted else {}

    async def unhandled(self, after: int = 0, limit: int = 200) -> list[Detection]:
        """The first ones beyond this event that nobody has seen to."""
        return await self.list(DetectionFilter(after=after, is_unhandled=True, limit=limit))

    async def handle(self, event: EventId, handling: Handling) -> Handling | None:
        """The handling that stands now: this one, or that of whoever was first. None where there is no such event."""
        return await self._db.write_durably(lambda connection: _handle(connection, event, handling))

    async def mute(self, mute: Mute) -> Mute:
        """The same one with its number."""
        return await self._db.write(lambda connection: _mute(connection, mute))

    async def unmute(self, number: int) -> bool:
        """Whether there was one."""
        return await self._db.write(lambda connection: _unmute(connection, number))

    async def mutes(self, at: int) -> list[Mute]:
        """Those that still hold."""
        query = "SELECT id, what, pane, at, until, by FROM mute WHERE until IS NULL OR until > ? ORDER BY id"
        return await self._db.read(lambda connection: [_muted(row) for row in connection.execute(query, (at,))])

    async def list(self, only: DetectionFilter) -> list[Detection]:
        """Oldest first: with ``after`` the first ones beyond that event, else the newest."""
        return await self._db.read(lambda connection: _list(connection, only))


def add_detections(connection: Connection, detections: Sequence[Detection]) -> list[Event]:
    stored = (add_detection(connection, detection) for detection in detections)
    return [event for event in stored if event is not None]


def add_detection(connection: Connection, detection: Detection, event: Event | None = None) -> Event | None:
    """Its event, or the one that is given in its place; None where it is what was told before, which is counted."""
    clean = _storable(detection)
    if clean.key and (found := _same(connection, clean)):
        _count(connection, found, clean)
        return None
    stored = add_event(connection, event or event_of(clean))
    muted = _muted_by(connection, clean)
    handling = clean.handling or (Handling(at=clean.at, by=f"mute:{muted}") if muted else None)
    _insert(connection, replace(clean, event=stored.id, handling=handling))
    return stored


def event_of(detection: Detection) -> Event:
    """A detection as the stream of events tells it."""
    return Event(at=detection.at, kind=detection.type, pane=detection.pane, data=detection.told)


def _same(connection: Connection, detection: Detection) -> tuple[int, str] | None:
    values = {
        "pane": detection.pane,
        "key": detection.key,
        "at": detection.at,
        "cooldown": int(detection.cooldown * NS),
        "trace": detection.trace,
        "runtime": detection.runtime,
        "redrawn": _REDRAWN_FOR,
    }
    found = connection.execute(_AGAIN, values).fetchone()
    ends = detection.evidence.get("resets_at")
    if found is None and detection.type == LIMIT and isinstance(ends, int):
        limit = {"type": LIMIT, "agent": detection.agent, "ends": ends, "minute": 60 * NS, "day": _A_DAY}
        found = connection.execute(_SAME_END, values | limit).fetchone()
    return cast("tuple[int, str] | None", found)


def _count(connection: Connection, found: tuple[int, str], detection: Detection) -> None:
    """What is seen again may tell more than it did at first; its text, too, is known when it is drawn again."""
    event, told = found
    captures = detection.captures | _CAPTURES.decode(told)
    connection.execute(
        "UPDATE detection SET seen_again = seen_again + 1, last_at = max(last_at, ?), captures = ?,"
        " trace = iif(trace = '', ?, trace) WHERE event = ?",
        (detection.at, _json(captures), detection.trace, event),
    )


def _muted_by(connection: Connection, detection: Detection) -> str:
    glob = "replace(what, '[!', '[^')"
    found = connection.execute(
        f"SELECT what FROM mute WHERE (? GLOB {glob} OR ? GLOB {glob}) AND (pane IS NULL OR pane = ?)"
        " AND (until IS NULL OR until > ?) ORDER BY id LIMIT 1",
        (detection.rule, detection.type, detection.pane, detection.at),
    ).fetchone()
    return str(found[0]) if found else ""


def _insert(connection: Connection, detection: Detection) -> None:
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
        _json(detection.captures),
        detection.source,
        _json(detection.evidence),
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


def _one(connection: Connection, event: int) -> Detection | None:
    row = connection.execute(f"SELECT {_COLUMNS} FROM detection WHERE event = ?", (event,)).fetchone()
    return None if row is None else _detection(row)


def _some(connection: Connection, events: Sequence[EventId]) -> Iterator[tuple[EventId, Detection]]:
    for event in events:
        if (found := _one(connection, event)) is not None:
            yield event, found


def _list(connection: Connection, only: DetectionFilter) -> list[Detection]:
    conditions: dict[str, Any] = {
        "event > ?": only.after,
        "type GLOB replace(?, '[!', '[^')": only.type,
        "rule GLOB replace(?, '[!', '[^')": only.rule,
        "agent = ?": only.agent,
        "pane = ?": only.pane,
        "severity >= ?": None if only.severity is None else _SEVERITIES.index(only.severity),
        "at >= ?": only.since,
    }
    given = {condition: value for condition, value in conditions.items() if value is not None}
    where = [*given, *(["handled_at IS NULL"] if only.is_unhandled else [])]
    order = "event" if only.after is not None else "event DESC"
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM detection WHERE {' AND '.join(where) or 'TRUE'} ORDER BY {order} LIMIT ?",
        (*given.values(), max(0, only.limit)),
    )
    return sorted((_detection(row) for row in cast("Iterator[tuple[Any, ...]]", rows)), key=lambda one: one.event)


def _handle(connection: Connection, event: int, handling: Handling) -> Handling | None:
    connection.execute(
        "UPDATE detection SET handled_at = ?, handled_by = ?, action_taken = ?, run = ?"
        " WHERE event = ? AND handled_at IS NULL",
        (handling.at, handling.by, storable(handling.action), handling.run, event),
    )
    found = _one(connection, event)
    return None if found is None else found.handling


def _mute(connection: Connection, mute: Mute) -> Mute:
    row = (mute.what, mute.pane, mute.at, mute.until, mute.by)
    again = (mute.at, mute.until, mute.by, mute.what, mute.pane, mute.at)
    query = "UPDATE mute SET at = ?, until = ?, by = ? WHERE what = ? AND pane IS ? AND (until IS NULL OR until > ?)"
    if found := connection.execute(f"{query} RETURNING id", again).fetchone():
        return replace(mute, id=found[0])
    connection.execute("INSERT INTO mute (what, pane, at, until, by) VALUES (?, ?, ?, ?, ?)", row)
    return replace(mute, id=connection.last_insert_rowid())


def _unmute(connection: Connection, number: int) -> bool:
    connection.execute("DELETE FROM mute WHERE id = ?", (number,))
    return bool(connection.changes())


def _muted(row: tuple[Any, ...]) -> Mute:
    number, what, pane, at, until, by = row
    return Mute(id=number, what=what, pane=pane, at=at, until=until, by=by)


def _detection(row: tuple[Any, ...]) -> Detection:
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
        captures=_CAPTURES.decode(captures),
        source=source,
        evidence=_EVIDENCE.decode(evidence),
        context=context,
        confidence=confidence,
        key=key,
        cooldown=cooldown,
        trace=trace,
        seen_again=seen_again,
        last_at=last_at,
        correlation=f"event:{event}",
        handling=Handling(at=handled_at, by=handled_by, action=action, run=run) if is_handled else None,
    )


def _storable(detection: Detection) -> Detection:
    captures = {storable(name): storable(value) for name, value in detection.captures.items()}
    return replace(detection, captures=captures, context=storable(detection.context), key=storable(detection.key))


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
