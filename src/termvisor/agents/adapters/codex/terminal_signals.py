"""Read what Codex writes to its terminal besides the screen: OSC 7501, pane titles, and the lines of `exec --json`.

Codex prints OSC 7501 at every change: ``state=blocked:app=codex:kind=permission``. A title is a request for action or
the folder after a spinner. `codex exec --json` prints one JSON object per line, for one thread with one turn. Any
program can print such lines, so the caller must verify that Codex is in the foreground.
"""

import re

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.codex.error_codes import build_message_error_statement
from termvisor.agents.adapters.codex.usage import build_thread_usage_payload
from termvisor.agents.adapters.command_line import UUID_PATTERN
from termvisor.agents.adapters.json_access import EMPTY_OBJECT, JsonObject, get_object, get_str, parse_json_object
from termvisor.agents.adapters.statements import (
    NOTE,
    RUNNING,
    AgentStatement,
    EventTable,
    apply_interpreter,
    build_interpreter,
    build_payload,
    build_unknown_statement,
    redact_text,
)
from termvisor.model.agent.signal import FlagUpdate

_STATEMENTS_BY_STATE = {
    "idle": AgentStatement(state="idle"),
    "working": AgentStatement(state="running"),
    "done": AgentStatement(state="completed"),
    "error": AgentStatement(state="error"),
    "clear": AgentStatement(state="unknown", reason="no_signal"),
}
_STATEMENTS_BY_BLOCK_KIND = {
    "permission": AgentStatement(state="waiting_approval"),
    "auth": AgentStatement(state="waiting_input", flags=FlagUpdate(auth_needed=True)),
}
_WAITING_STATEMENT = AgentStatement(state="waiting_input")
_SPINNER_PREFIX = re.compile(r"[\u2801-\u28ff] ")
_ACTION_REQUIRED_PREFIX = re.compile(r"\[ [!.] \] Action Required(?: \| |$)")


def read_osc(record: SourceRecord) -> list[AgentStatement]:
    """Parse one mark, ignoring those of other programs."""
    fields = dict(field.partition("=")[::2] for field in record.text.split(":"))
    state = fields.get("state", "")
    # `clear`, the last mark, names no program.
    if fields.get("app", "codex") != "codex" or not state:
        return []
    if state == "blocked":
        return [_STATEMENTS_BY_BLOCK_KIND.get(fields.get("kind", ""), _WAITING_STATEMENT)]
    return [_STATEMENTS_BY_STATE.get(state) or build_unknown_statement(record.text)]


def matches_title(title: str) -> bool:
    """Return True if a title names Codex. Most of its titles contain only the folder."""
    return _ACTION_REQUIRED_PREFIX.match(title) is not None or "codex" in title.lower().split()


def read_title(record: SourceRecord) -> list[AgentStatement]:
    """Return the waiting state if the title requests action, or else just the title without the spinner."""
    text = record.text.strip()
    if not text:
        return []
    if match := _ACTION_REQUIRED_PREFIX.match(text):
        return [AgentStatement(state="waiting_approval", title=redact_text(text[match.end() :]))]
    spinner = _SPINNER_PREFIX.match(text)
    title = text[spinner.end() :] if spinner else text
    return [AgentStatement(state="unknown", reason="no_signal", title=redact_text(title))]


def read_exec_line(record: SourceRecord) -> list[AgentStatement]:
    """Parse one line of `exec --json`, ignoring lines of other programs, which may print below it."""
    line = parse_json_object(record.text) or EMPTY_OBJECT
    kind = get_str(line, "type")
    interpreter = _LINE_INTERPRETERS.get(kind) or (_read_item if kind.startswith("item.") else None)
    return apply_interpreter(interpreter, line, record.at)


def _read_thread_started(fields: JsonObject, now: int) -> AgentStatement | None:
    thread = get_str(fields, "thread_id")
    return AgentStatement(kind="note", session=thread) if re.fullmatch(UUID_PATTERN, thread) else None


def _read_item(fields: JsonObject, now: int) -> AgentStatement | None:
    # An item of type `error` is a warning, which may come before the turn starts.
    kind = get_str(get_object(fields, "item"), "type")
    return AgentStatement(state="running", payload=build_payload(item=kind)) if kind and kind != "error" else None


def _read_turn_completed(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(state="completed", payload=build_thread_usage_payload(get_object(fields, "usage")))


def _read_turn_failed(fields: JsonObject, now: int) -> AgentStatement:
    return build_message_error_statement(get_str(get_object(fields, "error"), "message"), now)


_LINE_INTERPRETERS: EventTable = {
    "thread.started": _read_thread_started,
    "turn.started": RUNNING,
    "turn.completed": _read_turn_completed,
    "turn.failed": _read_turn_failed,
    # Codex also prints `error` for failures that it retries. Only `turn.failed` is final.
    "error": build_interpreter(NOTE, message="message"),
}
