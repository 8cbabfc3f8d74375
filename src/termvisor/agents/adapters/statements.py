"""Turn records of evidence sources into signals.

A record reader parses a record into statements; `build_signals` adds the source, process and time of the record unless
a statement has more precise ones. Readers of JSON records all work alike: they find the event's interpreter in a table
and leave the rest to `apply_interpreter`. Hooks of all agents come in one spool format, which is parsed here as well.
"""

from _blake2 import blake2b  # hashlib would load OpenSSL: four megabytes
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.json_access import (
    NS_PER_MS,
    JsonObject,
    decode_json,
    get_object,
    get_str,
    parse_json_object,
    parse_timestamp,
)
from termvisor.model.agent.evidence import EvidenceSource
from termvisor.model.agent.hooks import ToolFinished, encode_tool_input
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
    """Time of the event by the agent's clock; 0 if unknown."""
    hint: ProcessHint | None = None
    """The process it is about, if known more precisely than from the record."""
    key: str = ""
    """Key by which the same statement is recognized in another record; by default the record's id or text."""


class HookEvent(Struct, frozen=True):
    """One line of the hook spool."""

    event: str
    at: int
    payload: JsonObject


RecordReader = Callable[[SourceRecord], Iterable[AgentStatement]]
"""Parse one record of a source."""
EventInterpreter = Callable[[JsonObject, int], AgentStatement | None]
"""Interpret the fields of one event, given the time at which it was read."""
EventTable = Mapping[str, EventInterpreter | AgentStatement]
"""Interpreters by event name, or a fixed statement if the fields of the event do not matter."""
# Set when the agent accepts a prompt, which it only does if nothing blocks it.
CLEARED_FLAGS = FlagUpdate(compacting=False, usage_limited=False, auth_needed=False)
NO_CONTEXT = AgentStatement()
PROMPT_ACCEPTED = AgentStatement(state="running", flags=CLEARED_FLAGS)
RUNNING, COMPLETED = AgentStatement(state="running"), AgentStatement(state="completed")
WAITING_APPROVAL, NOTE = AgentStatement(state="waiting_approval"), AgentStatement(kind="note")
COMPACTION_START = AgentStatement(state="running", flags=FlagUpdate(compacting=True))
COMPACTION_END = AgentStatement(kind="note", flags=FlagUpdate(compacting=False))
INTERRUPTED_PAYLOAD: dict[str, Scalar] = {"message": "interrupted"}


# Earlier versions ordered hook events by their place in the spool; a higher life is later than all such positions.
_SPOOL_LIFE = 1 << 32


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
            source_life=_SPOOL_LIFE if record.seq is not None else record.life,
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
    """Return the statements with these values set on all of them."""
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
    find_interpreter: Callable[[HookEvent], EventInterpreter | AgentStatement | None],
    read_context: Callable[[JsonObject], AgentStatement],
) -> list[AgentStatement]:
    """Read one line of the hook spool. ``read_context`` returns the session and payload that all events have."""
    hook = parse_hook_event(record)
    if hook is None:
        return [build_unknown_statement(record.text)]
    interpreter = find_interpreter(hook)
    if interpreter is None:
        return []
    context = read_context(hook.payload)
    context = replace(context, at=hook.at, payload={**build_payload(event=hook.event), **context.payload})
    return apply_interpreter(interpreter, hook.payload, record.at, context)


def apply_interpreter(
    interpreter: EventInterpreter | AgentStatement | None,
    fields: JsonObject,
    now: int,
    context: AgentStatement = NO_CONTEXT,
) -> list[AgentStatement]:
    """Return the statement of one event, with the session, time, process and payload of ``context``.

    Empty if there is no interpreter or the event does not matter to it.
    """
    statement = interpreter(fields, now) if callable(interpreter) else interpreter
    if statement is None:
        return []
    return [
        replace(
            statement,
            session=context.session or statement.session,
            at=context.at,
            hint=context.hint,
            payload={**context.payload, **statement.payload},
        )
    ]


def build_interpreter(statement: AgentStatement, **paths: str) -> EventInterpreter:
    """Return an interpreter that adds texts of the event to the payload of a statement.

    ``paths`` has, by payload name, the field with the text; `a.b` is the field `b` of the object `a`.
    """

    def read_event(fields: JsonObject, now: int) -> AgentStatement:
        texts = {name: _get_text(fields, path) for name, path in paths.items()}
        return replace(statement, payload=build_payload(**texts))

    return read_event


def _get_text(fields: JsonObject, path: str) -> str:
    *parents, name = path.split(".")
    return get_str(get_object(fields, *parents), name)


def build_session_end_interpreter(end_reasons: Mapping[str, str]) -> EventInterpreter:
    """Return an interpreter for the end of a session. ``end_reasons`` maps the agent's reasons to ours."""
    return lambda fields, now: AgentStatement(
        kind="note", payload=build_payload(end_reason=end_reasons.get(get_str(fields, "reason")))
    )


def build_subtask_interpreter(kind: Literal["task_began", "task_ended"], field_name: str) -> EventInterpreter:
    """Return an interpreter for the start or end of the sub-task whose id is in this field."""
    return lambda fields, now: AgentStatement(kind=kind, task=task) if (task := get_str(fields, field_name)) else None


def build_payload(**fields: Scalar) -> dict[str, Scalar]:
    """Return the fields that are not empty, with texts redacted and truncated."""
    clean = {name: redact_text(value) if isinstance(value, str) else value for name, value in fields.items()}
    return {name: value for name, value in clean.items() if value is not None and value != ""}


def redact_text(text: str) -> str:
    """Redact and truncate a text. More is redacted than kept, so that a secret at the cut is still recognized."""
    return redact(text[: 2 * MAX_TEXT_CHARS])[:MAX_TEXT_CHARS].strip()


def hash_text(text: str | bytes) -> str:
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    return blake2b(data, digest_size=8).hexdigest()


_TOOL_END_EVENTS = frozenset({"PostToolUse", "PostToolUseFailure", "PermissionDenied"})


class _ToolPayload(Struct, frozen=True):
    tool_name: str
    session_id: str
    tool_input: Any = None


class _ToolHookLine(Struct, frozen=True):
    event: str
    at: int
    payload: _ToolPayload


def parse_tool_end(record: SourceRecord) -> ToolFinished | None:
    """Return the tool call whose end a hook reports; None for any other record."""
    # Most records report something else, and a search is much cheaper than parsing.
    if record.source != "hook" or not any(f'"{name}"' in record.text for name in _TOOL_END_EVENTS):
        return None
    line = decode_json(record.text, _ToolHookLine)
    if line is None or line.event not in _TOOL_END_EVENTS:
        return None
    payload = line.payload
    tool_input = redact(encode_tool_input(payload.tool_input))
    return ToolFinished(session=payload.session_id, tool=payload.tool_name, given=tool_input, at=line.at * NS_PER_MS)
