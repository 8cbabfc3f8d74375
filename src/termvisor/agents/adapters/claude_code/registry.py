"""The session registry: one file a process, ``~/.claude/sessions/<pid>.json``, rewritten with every change of state.

It knows no errors and no ends of turns; both look idle there. Its first words, before any status, have no time of
their own: they count as old as the process, for the first status may be written while they are read. A process that was
killed leaves its file behind, and the next one with the same pid may find it: so the start of the process must agree,
too. One that leaves in good order removes it a moment before it ends.
"""

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.json_access import JSON_ERRORS, NS_PER_MS
from termvisor.agents.adapters.statements import AgentStatement, add_context, build_payload, build_unknown_statement
from termvisor.model.agent.signal import ProcessHint
from termvisor.model.agent.state import StateName

STATES_BY_STATUS: dict[str, StateName] = {"idle": "idle", "busy": "running", "shell": "running"}
"""``shell``: the turn is over, but a command that it started still runs, and its end begins a turn by itself."""
APPROVAL_WAITS = frozenset({"permission prompt", "sandbox request"})
"""What a `waiting` agent asks leave for; everything else that it waits for is an answer."""


class ClaudeRegistryEntry(Struct, frozen=True, rename="camel"):
    pid: int
    session_id: str = ""
    proc_start: str = ""
    version: str = ""
    name: str = ""
    name_source: str = ""
    status: str = ""
    waiting_for: str = ""
    started_at: int = 0
    updated_at: int = 0
    status_updated_at: int = 0


def read_registry(record: SourceRecord) -> list[AgentStatement]:
    if not record.text:
        return [AgentStatement(kind="source_down")]
    try:
        entry = msgspec.json.decode(record.text, type=ClaudeRegistryEntry)
    except JSON_ERRORS:
        return [build_unknown_statement("a session registry file of another form")]
    if not _is_about_process(entry, record.hint):
        return []
    told = add_context(
        [_build_statement(entry)],
        at=(max(entry.updated_at, entry.status_updated_at) or entry.started_at) * NS_PER_MS,
        session=entry.session_id,
        hint=replace(record.hint, pid=entry.pid, pid_started=_parse_process_start(entry)),
    )
    return told


def _is_about_process(entry: ClaudeRegistryEntry, hint: ProcessHint) -> bool:
    """Whether it speaks of the process that was meant, and not of a dead one with the same number."""
    is_pid = not hint.pid or hint.pid == entry.pid
    started = _parse_process_start(entry)
    return is_pid and (not hint.pid_started or not started or hint.pid_started == started)


def _parse_process_start(entry: ClaudeRegistryEntry) -> int:
    return int(entry.proc_start) if entry.proc_start.isascii() and entry.proc_start.isdigit() else 0


def _build_statement(entry: ClaudeRegistryEntry) -> AgentStatement:
    title = entry.name if entry.name and entry.name_source != "derived" else None
    about = build_payload(version=entry.version, status=entry.status, waiting_for=entry.waiting_for)
    if not entry.status:
        return AgentStatement(kind="note", title=title, payload=about)
    state = _find_state(entry)
    if state is None:
        return AgentStatement(state="unknown", reason="unsupported_signal", title=title, payload=about)
    return AgentStatement(state=state, title=title, payload=about)


def _find_state(entry: ClaudeRegistryEntry) -> StateName | None:
    if entry.status == "waiting":
        return "waiting_approval" if entry.waiting_for in APPROVAL_WAITS else "waiting_input"
    return STATES_BY_STATUS.get(entry.status)
