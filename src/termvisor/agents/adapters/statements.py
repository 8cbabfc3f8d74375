"""Turn records of evidence sources into signals.

A record reader parses a record into statements; `build_signals` adds the source, process and time of the record unless
a statement knows them better.
"""

from _blake2 import blake2b  # hashlib would load OpenSSL: four megabytes
from collections.abc import Callable, Iterable
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.json_access import JsonObject, get_object, get_str, parse_json_object, parse_timestamp
from termvisor.model.agent.evidence_source import EvidenceSource
from termvisor.model.agent.signal import NO_FLAG_UPDATE, FlagUpdate, ProcessHint, Signal, SignalKind
from termvisor.model.agent.state import StateName, UnknownReason
from termvisor.model.event import Scalar
from termvisor.redaction import redact

MAX_TEXT_CHARS = 2000


class AgentStatement(Struct, frozen=True, kw_only=True):
    """One fact in a record, such as a new state."""

    kind: SignalKind = "state"
    state: StateName | None = None
    reason: UnknownReason | None = None
    flags: FlagUpdate = NO_FLAG_UPDATE
    title: str | None = None
    task: str = ""
    tasks: tuple[str, ...] | None = None
    payload: dict[str, Scalar] = {}
    session: str = ""
    at: int = 0
    """When it happened by the agent's clock; 0 if unknown."""
    hint: ProcessHint | None = None
    """The process it is about, if known better than from the record."""
    key: str = ""
    """Key that detects the same statement in another record; by default the record's id or text."""


class HookEvent(Struct, frozen=True):
    """One line of the hook spool."""

    event: str
    at: int
    payload: JsonObject


RecordReader = Callable[[SourceRecord], Iterable[AgentStatement]]
"""Parse one record of a source."""
EventInterpreter = Callable[[JsonObject, int], AgentStatement | None]
"""Interpret the fields of one event, given the time at which it was read."""
CLEARED_FLAGS = FlagUpdate(compacting=False, usage_limited=False, auth_needed=False)
"""Set when the agent accepts a prompt, which it does only if nothing blocks it."""
INTERRUPTED_PAYLOAD: dict[str, Scalar] = {"message": "interrupted"}


def build_signals(
    agent: str, source: EvidenceSource, record: SourceRecord, statements: Iterable[AgentStatement]
) -> list[Signal]:
    """Return one signal for each statement of a record, in order."""
    record_key = record.event_id or f"{record.at}:{hash_text(record.text)}"
    return [
        Signal(
            source=source.name,
            tier=source.tier,
            agent=agent,
            hint=statement.hint or record.hint,
            session=statement.session,
            source_event_id=record.event_id,
            source_seq=record.seq,
            source_life=record.life,
            event_at=statement.at or record.at,
            ingested_at=record.at,
            dedupe_key=f"{statement.key or record_key}/{index}",
            kind=statement.kind,
            state=statement.state,
            reason=statement.reason,
            task=statement.task,
            tasks=statement.tasks,
            flags=statement.flags,
            title=statement.title,
            moved_at=record.at if source.tier == "heuristic" else None,
            payload=statement.payload,
        )
        for index, statement in enumerate(statements)
    ]


def add_context(
    statements: Iterable[AgentStatement],
    *,
    at: int = 0,
    session: str = "",
    hint: ProcessHint | None = None,
    key: str = "",
) -> list[AgentStatement]:
    """Return the statements with these values, which apply to all of them."""
    return [replace(statement, at=at, session=session, hint=hint, key=key) for statement in statements]


def build_unknown_statement(description: str) -> AgentStatement:
    """Return the statement for a record whose format is not supported."""
    return AgentStatement(state="unknown", reason="unsupported_signal", payload=build_payload(said=description))


def parse_hook_event(record: SourceRecord) -> HookEvent | None:
    """Parse a line of the hook spool; None if it is malformed."""
    line = parse_json_object(record.text)
    event = get_str(line, "event") if line is not None else ""
    if line is None or not event:
        return None
    return HookEvent(event, parse_timestamp(line.get("at")), get_object(line, "payload"))


def read_hook_event(
    record: SourceRecord,
    find_interpreter: Callable[[HookEvent], EventInterpreter | None],
    read_context: Callable[[JsonObject], AgentStatement],
) -> list[AgentStatement]:
    """Read one line of the hook spool. ``read_context`` returns the session and payload that all events have."""
    hook = parse_hook_event(record)
    if hook is None:
        return [build_unknown_statement(record.text)]
    interpret = find_interpreter(hook)
    statement = interpret(hook.payload, record.at) if interpret is not None else None
    if statement is None:
        return []
    context = read_context(hook.payload)
    payload = {**build_payload(event=hook.event), **context.payload, **statement.payload}
    return [replace(statement, session=context.session, at=hook.at, payload=payload)]


def build_subtask_interpreter(kind: Literal["task_began", "task_ended"], field_name: str) -> EventInterpreter:
    """Return an interpreter for the start or end of the sub-task whose id is in this field."""
    return lambda fields, now: AgentStatement(kind=kind, task=task) if (task := get_str(fields, field_name)) else None


def build_payload(**fields: Scalar) -> dict[str, Scalar]:
    """Return the fields that are not empty, with texts redacted and truncated."""
    clean = {name: redact_text(value) if isinstance(value, str) else value for name, value in fields.items()}
    return {name: value for name, value in clean.items() if value is not None and value != ""}


def redact_text(text: str) -> str:
    """Redact and truncate a text. More is redacted than is kept, so that a secret at the cut is still recognized."""
    return redact(text[: 2 * MAX_TEXT_CHARS])[:MAX_TEXT_CHARS].strip()


def hash_text(text: str) -> str:
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
