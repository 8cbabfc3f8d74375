"""Read the Claude Code session registry: one file per process, ``~/.claude/sessions/<pid>.json``.

The file is rewritten whenever the state changes, but shows errors and completed turns as idle. Its first version has no
status or time and is dated to the process start, since a status may be written while it is read. A killed process
leaves its file behind, so the start time of the process must match as well as the pid. A process that exits normally
removes its file shortly before it exits.
"""

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.json_access import NS_PER_MS, decode_json
from termvisor.agents.adapters.statements import AgentStatement, add_context, build_payload, build_unknown_statement
from termvisor.model.agent.signal import ProcessHint
from termvisor.model.agent.state import StateName

# ``shell``: the turn has ended, but a background command is still running, and its end will start another turn.
_STATES_BY_STATUS: dict[str, StateName] = {"idle": "idle", "busy": "running", "shell": "running"}
# Values of ``waitingFor`` that need an approval; all others need input.
_APPROVAL_WAITS = frozenset({"permission prompt", "sandbox request"})


class ClaudeRegistryEntry(Struct, frozen=True, rename="camel"):
    """The content of a registry file."""

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
    """Parse a registry file. An empty text means that the file was removed."""
    if not record.text:
        return [AgentStatement(kind="source_down")]
    entry = decode_json(record.text, ClaudeRegistryEntry)
    if entry is None:
        return [build_unknown_statement("malformed session registry file")]
    if not _is_about_process(entry, record.hint):
        return []
    return add_context(
        [_build_statement(entry)],
        at=(max(entry.updated_at, entry.status_updated_at) or entry.started_at) * NS_PER_MS,
        session=entry.session_id,
        hint=replace(record.hint, pid=entry.pid, pid_started=_parse_process_start(entry)),
    )


def _is_about_process(entry: ClaudeRegistryEntry, hint: ProcessHint) -> bool:
    """Return False for the file of a dead process whose pid was reused."""
    is_pid = not hint.pid or hint.pid == entry.pid
    started = _parse_process_start(entry)
    return is_pid and (not hint.pid_started or not started or hint.pid_started == started)


def _parse_process_start(entry: ClaudeRegistryEntry) -> int:
    return int(entry.proc_start) if entry.proc_start.isascii() and entry.proc_start.isdigit() else 0


def _build_statement(entry: ClaudeRegistryEntry) -> AgentStatement:
    title = entry.name if entry.name and entry.name_source != "derived" else None
    payload = build_payload(version=entry.version, status=entry.status, waiting_for=entry.waiting_for)
    if not entry.status:
        return AgentStatement(kind="note", title=title, payload=payload)
    state = _STATES_BY_STATUS.get(entry.status)
    if entry.status == "waiting":
        state = "waiting_approval" if entry.waiting_for in _APPROVAL_WAITS else "waiting_input"
    if state is None:
        return AgentStatement(state="unknown", reason="unsupported_signal", title=title, payload=payload)
    return AgentStatement(state=state, title=title, payload=payload)
