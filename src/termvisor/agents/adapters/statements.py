"""How what an agent says becomes Signals.

`Said` is one thing that a record says; the record says by whom and when, unless what it says knows that better.
"""

from _blake2 import blake2b  # hashlib would load OpenSSL, four megabytes of it
from collections.abc import Callable, Iterable
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.adapters.adapter import Record
from termvisor.agents.adapters.json_access import Json, inside, moment, parsed, text
from termvisor.model.agent.evidence_source import Source
from termvisor.model.agent.signal import SILENT, FlagsTold, Hint, Signal, SignalKind
from termvisor.model.agent.state import StateName, UnknownReason
from termvisor.model.event import Scalar
from termvisor.redaction import redact

TEXT_LIMIT = 2000


class Said(Struct, frozen=True, kw_only=True):
    kind: SignalKind = "state"
    state: StateName | None = None
    reason: UnknownReason | None = None
    flags: FlagsTold = SILENT
    title: str | None = None
    task: str = ""
    tasks: tuple[str, ...] | None = None
    payload: dict[str, Scalar] = {}
    session: str = ""
    at: int = 0
    """When it happened, by the agent's own clock; 0 where it told no time."""
    hint: Hint | None = None
    """Whose word it is, where that is known better than by the record."""
    key: str = ""
    """By which the same evidence is known again; without one, the record's id or its text is."""


class Hook(Struct, frozen=True):
    """A line of the hooks' spool."""

    event: str
    at: int
    payload: Json


Reader = Callable[[Record], Iterable[Said]]
"""What one record of a source says."""
Meaning = Callable[[Json, int], Said | None]
"""What one event says, from its fields and the instant at which it was read."""
WORK_ANEW = FlagsTold(compacting=False, usage_limited=False, auth_needed=False)
"""A prompt was taken: what stood in the way is over."""
INTERRUPTED: dict[str, Scalar] = {"message": "interrupted"}


def signals(agent: str, source: Source, record: Record, told: Iterable[Said]) -> list[Signal]:
    """One for each thing that a record says, in their order."""
    known = record.event_id or f"{record.at}:{_digest(record.text)}"
    return [
        Signal(
            source=source.name,
            tier=source.tier,
            agent=agent,
            hint=said.hint or record.hint,
            session=said.session,
            source_event_id=record.event_id,
            source_seq=record.seq,
            source_life=record.life,
            event_at=said.at or record.at,
            ingested_at=record.at,
            dedupe_key=f"{said.key or known}/{number}",
            kind=said.kind,
            state=said.state,
            reason=said.reason,
            task=said.task,
            tasks=said.tasks,
            flags=said.flags,
            title=said.title,
            moved_at=record.at if source.tier == "heuristic" else None,
            payload=said.payload,
        )
        for number, said in enumerate(told)
    ]


def framed(
    told: Iterable[Said], *, at: int = 0, session: str = "", hint: Hint | None = None, key: str = ""
) -> list[Said]:
    """The same words, with what is true of all of them."""
    return [replace(said, at=at, session=session, hint=hint, key=key) for said in told]


def not_understood(what: str) -> Said:
    return Said(state="unknown", reason="unsupported_signal", payload=payload(said=what))


def hook_of(record: Record) -> Hook | None:
    """None for what no hook of ours wrote."""
    line = parsed(record.text)
    event = text(line, "event") if line is not None else ""
    if line is None or not event:
        return None
    return Hook(event, moment(line.get("at")), inside(line, "payload"))


def heard(record: Record, meaning_of: Callable[[Hook], Meaning | None], frame: Callable[[Json], Said]) -> list[Said]:
    """What a line of the spool says; ``frame`` tells the session, and what else is true of every event."""
    hook = hook_of(record)
    if hook is None:
        return [not_understood(record.text)]
    meaning = meaning_of(hook)
    said = meaning(hook.payload, record.at) if meaning is not None else None
    if said is None:
        return []
    around = frame(hook.payload)
    about = {**payload(event=hook.event), **around.payload, **said.payload}
    return [replace(said, session=around.session, at=hook.at, payload=about)]


def subtask(kind: Literal["task_began", "task_ended"], name: str) -> Meaning:
    """The sub-task that the field of this name names; nothing where it names none."""
    return lambda told, now: Said(kind=kind, task=task) if (task := text(told, name)) else None


def payload(**fields: Scalar) -> dict[str, Scalar]:
    """What says something; texts redacted and bounded."""
    found = {name: shown(value) if isinstance(value, str) else value for name, value in fields.items()}
    return {name: value for name, value in found.items() if value is not None and value != ""}


def shown(words: str) -> str:
    return redact(words[: 2 * TEXT_LIMIT])[:TEXT_LIMIT].strip()


def _digest(words: str) -> str:
    return blake2b(words.encode("utf-8", "replace"), digest_size=8).hexdigest()
