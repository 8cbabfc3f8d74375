"""How what an agent says becomes Signals: the frame around them, and safe ways to look into JSON of strangers."""

from collections.abc import Mapping
from datetime import datetime

import msgspec
from msgspec import Struct

from termvisor.agents.base import Record
from termvisor.model.agent import StateName, UnknownReason
from termvisor.model.event import Scalar
from termvisor.model.signal import SILENT, FlagsTold, Signal, SignalKind
from termvisor.model.source import SOURCES
from termvisor.redact import redact

MILLISECOND, SECOND = 10**6, 10**9
TEXT_LIMIT = 2000
Json = Mapping[str, object]
EMPTY: Json = {}


class Said(Struct, frozen=True, kw_only=True):
    """What one record says, without the frame."""

    kind: SignalKind = "state"
    state: StateName | None = None
    reason: UnknownReason | None = None
    flags: FlagsTold = SILENT
    title: str | None = None
    task: str = ""
    session: str = ""
    at: int = 0
    """When it happened, where the record tells it."""
    payload: dict[str, Scalar] = {}


class Hook(Struct, frozen=True):
    """A line of the hooks' spool."""

    event: str
    at: int
    payload: Json


def signal(agent: str, record: Record, said: Said) -> Signal:
    source = next(one for one in SOURCES[agent] if one.name == record.source)
    is_look = source.tier == "heuristic"
    return Signal(
        source=source.name,
        tier=source.tier,
        agent=agent,
        hint=record.hint,
        session=said.session,
        source_event_id=record.event_id,
        source_seq=record.seq,
        source_life=record.life,
        event_at=said.at or record.at,
        ingested_at=record.at,
        dedupe_key=f"{record.event_id or record.at}:{said.kind}:{said.state or said.task}",
        kind=said.kind,
        state=said.state,
        reason=said.reason,
        task=said.task,
        flags=said.flags,
        title=said.title,
        moved_at=record.at if is_look else None,
        payload=said.payload,
    )


def not_understood(what: str) -> Said:
    return Said(state="unknown", reason="unsupported_signal", payload=payload(said=what))


def hook_of(record: Record) -> Hook | None:
    """None for what no hook of ours wrote."""
    line = parsed(record.text)
    event = text(line, "event") if line is not None else ""
    if line is None or not event:
        return None
    return Hook(event, moment(line.get("at")), inside(line, "payload"))


def parsed(words: str) -> Json | None:
    """None for what is no JSON object."""
    try:
        value = msgspec.json.decode(words)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def inside(value: Json, *names: str) -> Json:
    """The object at that place; an empty one where there is none."""
    for name in names:
        found = value.get(name)
        value = found if isinstance(found, dict) else EMPTY
    return value


def text(value: Json, name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""


def number(value: Json, name: str) -> int | None:
    """None for what is no count."""
    found = value.get(name)
    if not isinstance(found, int | float) or isinstance(found, bool):
        return None
    return int(found) if 0 <= found < 10**15 else None


def moment(value: object) -> int:
    """Nanoseconds since 1970, from milliseconds or as ISO 8601 with its zone; 0 where nothing is told."""
    if isinstance(value, str):
        try:
            return int(datetime.fromisoformat(value).timestamp() * 1000) * MILLISECOND if value[-1:] == "Z" else 0
        except (ValueError, OverflowError):
            return 0
    return int(value) * MILLISECOND if isinstance(value, int) and 0 < value < 10**15 else 0


def payload(**fields: str | int | float | None) -> dict[str, Scalar]:
    """What is not empty; texts redacted and bounded."""
    return {
        name: redact(value)[:TEXT_LIMIT] if isinstance(value, str) else value
        for name, value in fields.items()
        if value not in ("", None)
    }
