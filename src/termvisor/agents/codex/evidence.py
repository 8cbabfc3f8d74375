"""How what Codex says becomes Signals: the frame around them, and safe ways to look into JSON of strangers."""

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from termvisor.agents.base import Record
from termvisor.model.agent import StateName, Tier, UnknownReason
from termvisor.model.event import Scalar
from termvisor.model.signal import SILENT, FlagsTold, Hint, Signal, SignalKind
from termvisor.model.source import SOURCES
from termvisor.redact import redact

AGENT = "codex"
MILLISECOND = 10**6
TEXT_LIMIT = 2000
Json = Mapping[str, object]
EMPTY: Json = {}
_TIERS: dict[str, Tier] = {source.name: source.tier for source in SOURCES[AGENT]}


class Said(Struct, frozen=True, kw_only=True):
    """What one record says, without the frame."""

    kind: SignalKind = "state"
    state: StateName | None = None
    reason: UnknownReason | None = None
    flags: FlagsTold = SILENT
    title: str | None = None
    task: str = ""
    payload: dict[str, Scalar] = {}


def signal(record: Record, said: Said, *, session: str = "", hint: Hint | None = None, at: int = 0) -> Signal:
    """``hint`` and ``at`` stand for those of the record where what it says knows better."""
    return Signal(
        source=record.source,
        tier=_TIERS[record.source],
        agent=AGENT,
        hint=record.hint if hint is None else hint,
        session=session,
        source_event_id=record.event_id,
        source_seq=record.seq,
        source_life=record.life,
        event_at=at or record.at,
        ingested_at=record.at,
        dedupe_key=f"{record.event_id or record.at}:{said.kind}:{said.state or said.task}",
        kind=said.kind,
        state=said.state,
        reason=said.reason,
        task=said.task,
        flags=said.flags,
        title=said.title,
        payload=said.payload,
    )


def not_understood(record: Record, what: str) -> Signal:
    said = Said(state="unknown", reason="unsupported_signal", payload={"said": shown(what)})
    return signal(record, said)


def parsed(text: str) -> Json | None:
    """None for what is no JSON object."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
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


def number(value: Json, name: str) -> int:
    found = value.get(name)
    return int(found) if isinstance(found, int | float) else 0


def shown(words: str) -> str:
    return redact(words)[:TEXT_LIMIT]


def payload(**fields: str | int | float | None) -> dict[str, Scalar]:
    """What is not empty; texts redacted and bounded."""
    return {
        name: shown(value) if isinstance(value, str) else value
        for name, value in fields.items()
        if value not in ("", None)
    }
