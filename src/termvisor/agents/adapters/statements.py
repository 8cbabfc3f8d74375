"""How what an agent says becomes Signals.

`Said` is one thing that a record says; the record says by whom and when, unless what it says knows that better.
"""

from _blake2 import blake2b  # hashlib would load OpenSSL, four megabytes of it
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
    """When it happened, by the agent's own clock; 0 where it told no time."""
    hint: ProcessHint | None = None
    """Whose word it is, where that is known better than by the record."""
    key: str = ""
    """By which the same evidence is known again; without one, the record's id or its text is."""


class HookEvent(Struct, frozen=True):
    """A line of the hooks' spool."""

    event: str
    at: int
    payload: JsonObject


RecordReader = Callable[[SourceRecord], Iterable[AgentStatement]]
"""What one record of a source says."""
EventInterpreter = Callable[[JsonObject, int], AgentStatement | None]
"""What one event says, from its fields and the instant at which it was read."""
CLEARED_FLAGS = FlagUpdate(compacting=False, usage_limited=False, auth_needed=False)
"""A prompt was taken: what stood in the way is over."""
INTERRUPTED_PAYLOAD: dict[str, Scalar] = {"message": "interrupted"}


def build_signals(
    agent: str, source: EvidenceSource, record: SourceRecord, statements: Iterable[AgentStatement]
) -> list[Signal]:
    """One for each thing that a record says, in their order."""
    known = record.event_id or f"{record.at}:{_hash_text(record.text)}"
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
        for number, said in enumerate(statements)
    ]


def add_context(
    statements: Iterable[AgentStatement],
    *,
    at: int = 0,
    session: str = "",
    hint: ProcessHint | None = None,
    key: str = "",
) -> list[AgentStatement]:
    """The same words, with what is true of all of them."""
    return [replace(said, at=at, session=session, hint=hint, key=key) for said in statements]


def build_unknown_statement(description: str) -> AgentStatement:
    return AgentStatement(state="unknown", reason="unsupported_signal", payload=build_payload(said=description))


def parse_hook_event(record: SourceRecord) -> HookEvent | None:
    """None for what no hook of ours wrote."""
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
    """What a line of the spool says; ``frame`` tells the session, and what else is true of every event."""
    hook = parse_hook_event(record)
    if hook is None:
        return [build_unknown_statement(record.text)]
    meaning = find_interpreter(hook)
    said = meaning(hook.payload, record.at) if meaning is not None else None
    if said is None:
        return []
    around = read_context(hook.payload)
    about = {**build_payload(event=hook.event), **around.payload, **said.payload}
    return [replace(said, session=around.session, at=hook.at, payload=about)]


def build_subtask_interpreter(kind: Literal["task_began", "task_ended"], field_name: str) -> EventInterpreter:
    """The sub-task that the field of this name names; nothing where it names none."""
    return lambda told, now: AgentStatement(kind=kind, task=task) if (task := get_str(told, field_name)) else None


def build_payload(**fields: Scalar) -> dict[str, Scalar]:
    """What says something; texts redacted and bounded."""
    found = {name: redact_text(value) if isinstance(value, str) else value for name, value in fields.items()}
    return {name: value for name, value in found.items() if value is not None and value != ""}


def redact_text(text_to_redact: str) -> str:
    return redact(text_to_redact[: 2 * MAX_TEXT_CHARS])[:MAX_TEXT_CHARS].strip()


def _hash_text(message: str) -> str:
    return blake2b(message.encode("utf-8", "replace"), digest_size=8).hexdigest()
