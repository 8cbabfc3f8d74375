"""How what Claude Code says becomes signals: the frame around them, and the measure of texts.

`Told` is what a record says; who said it, when, and how it is known again is the `Frame`.
"""

from _blake2 import blake2b  # hashlib would load OpenSSL, four megabytes of it
from collections.abc import Iterable

from msgspec import DecodeError, Struct

from termvisor.agents.base import Record
from termvisor.model.agent import StateName, UnknownReason
from termvisor.model.event import Scalar
from termvisor.model.signal import SILENT, FlagsTold, Hint, Signal, SignalKind
from termvisor.model.source import SOURCES, Source
from termvisor.redact import redact

AGENT = "claude_code"
MS = 10**6
LONGEST = 2000
BROKEN = (DecodeError, RecursionError)
"""What reading somebody else's JSON may raise."""
Fields = dict[str, Scalar]

_SOURCES: dict[str, Source] = {source.name: source for source in SOURCES[AGENT]}


class Told(Struct, frozen=True, kw_only=True):
    kind: SignalKind = "state"
    state: StateName | None = None
    reason: UnknownReason | None = None
    task: str = ""
    tasks: tuple[str, ...] | None = None
    flags: FlagsTold = SILENT
    title: str | None = None
    payload: Fields = {}


class Frame(Struct, frozen=True, kw_only=True):
    """``at`` is the agent's own time in nanoseconds; 0 where it told none. ``hint`` adds to the record's."""

    at: int = 0
    session: str = ""
    hint: Hint | None = None
    key: str = ""
    """By which the same evidence is known again; without one, the record's id or its text is."""


def signals(record: Record, frame: Frame, told: Iterable[Told]) -> list[Signal]:
    key = frame.key or record.event_id or f"{record.at}:{digest(record.text)}"
    return [
        Signal(
            source=record.source,
            tier=_SOURCES[record.source].tier,
            agent=AGENT,
            hint=frame.hint or record.hint,
            session=frame.session,
            source_event_id=record.event_id,
            source_seq=record.seq,
            source_life=record.life,
            event_at=frame.at or record.at,
            ingested_at=record.at,
            dedupe_key=f"{key}/{number}",
            kind=one.kind,
            state=one.state,
            reason=one.reason,
            task=one.task,
            tasks=one.tasks,
            flags=one.flags,
            title=one.title,
            payload=one.payload,
        )
        for number, one in enumerate(told)
    ]


def not_understood(record: Record, what: str) -> list[Signal]:
    told = Told(state="unknown", reason="unsupported_signal", payload=fields(what=what))
    return signals(record, Frame(), [told])


def fields(**values: Scalar) -> Fields:
    """Those that say something; texts without secrets, and short."""
    found = {name: short(value) if isinstance(value, str) else value for name, value in values.items()}
    return {name: value for name, value in found.items() if value is not None and value != ""}


def short(text: str) -> str:
    return redact(text[: 2 * LONGEST])[:LONGEST].strip()


def digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
