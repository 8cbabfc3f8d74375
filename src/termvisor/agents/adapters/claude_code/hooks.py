"""Read Claude Code hook events.

Hooks do not report everything: no hook fires for an interrupt or a denial with Escape. Events inside a sub-agent have
its id and do not change the state of the agent, except for permission requests.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.claude_code import status_line
from termvisor.agents.adapters.claude_code.error_codes import build_error_flags
from termvisor.agents.adapters.json_access import JSON_ERRORS, NS_PER_MS
from termvisor.agents.adapters.statements import (
    AgentStatement,
    add_context,
    build_payload,
    build_unknown_statement,
    parse_hook_event,
)
from termvisor.model.agent.signal import FlagUpdate
from termvisor.model.agent.state import StateName

STATELESS_EVENTS = frozenset(
    {
        "Setup",
        "InstructionsLoaded",
        "UserPromptExpansion",
        "MessageDisplay",
        "PostToolBatch",
        "TaskCreated",
        "TaskCompleted",
        "TeammateIdle",
        "ConfigChange",
        "CwdChanged",
        "DirectoryAdded",
        "FileChanged",
        "WorktreeCreate",
        "WorktreeRemove",
        "PreModelSwitch",
    }
)
"""Known events that do not change the state."""
QUESTION_TOOL = "AskUserQuestion"
MANUAL_END_REASONS = frozenset({"prompt_input_exit", "logout", "clear", "resume"})
STATES_BY_NOTIFICATION: dict[str, StateName] = {
    "worker_permission_prompt": "waiting_approval",
    "agent_needs_input": "waiting_input",
    "elicitation_dialog": "waiting_input",
    "elicitation_url_dialog": "waiting_input",
}
"""Notifications that name what the agent waits for. Not `permission_prompt`: it comes for questions, too, and late."""
_EVENT_NAME_CHARS = 64
"""The event name is within this many characters of a spool line."""
_TASK_NOTIFICATION = re.compile(r"\A\s*<task-notification>\s*<task-id>([\w-]{1,64})</task-id>")


class ClaudeBackgroundTask(Struct, frozen=True):
    id: str
    status: str = "running"


class ClaudeHookPayload(Struct, frozen=True):
    """The payload fields of all events; each event has some of them."""

    session_id: str = ""
    transcript_path: str = ""
    agent_id: str = ""
    agent_type: str = ""
    source: str = ""
    model: str = ""
    session_title: str = ""
    prompt: str = ""
    tool_name: str = ""
    tool_input: Any = None
    tool_response: Any = None
    error: str = ""
    error_details: str = ""
    is_interrupt: bool = False
    message: str = ""
    notification_type: str = ""
    last_assistant_message: str = ""
    background_tasks: tuple[ClaudeBackgroundTask, ...] | None = None
    trigger: str = ""
    reason: str = ""
    to_model: str = ""


class ClaudeHookLine(Struct, frozen=True):
    event: str
    at: int = 0
    payload: ClaudeHookPayload = ClaudeHookPayload()


def read_hook(record: SourceRecord) -> list[AgentStatement]:
    """Parse one line of the hook spool."""
    if (
        f'"{status_line.STATUS_LINE_EVENT}"' in record.text[:_EVENT_NAME_CHARS]
        and (hook := parse_hook_event(record)) is not None
    ):
        return status_line.read_status_line(hook)
    try:
        line = msgspec.json.decode(record.text, type=ClaudeHookLine)
    except JSON_ERRORS:
        return [build_unknown_statement("malformed hook line")]
    if line.event in STATELESS_EVENTS:
        return []
    read_event = EVENT_READERS.get(line.event)
    if read_event is None:
        return [build_unknown_statement(f"hook event {line.event}")]
    return add_context(read_event(line.payload, record.at), at=line.at * NS_PER_MS, session=line.payload.session_id)


def _read_session_start(event: ClaudeHookPayload, _: int) -> Iterable[AgentStatement]:
    payload = build_payload(model=event.model, transcript=event.transcript_path, began_by=event.source)
    title = event.session_title or None
    if event.source == "compact":
        yield AgentStatement(kind="note", title=title, payload=payload)
    else:
        yield AgentStatement(state="idle", title=title, payload=payload)


def _read_session_end(event: ClaudeHookPayload, _: int) -> Iterable[AgentStatement]:
    # Not an exit: after `/clear` the process continues with another session.
    end_reason = "manual" if event.reason in MANUAL_END_REASONS else ""
    yield AgentStatement(kind="note", payload=build_payload(end_reason=end_reason, left_by=event.reason))


def _read_prompt(event: ClaudeHookPayload, _: int) -> Iterable[AgentStatement]:
    # A background task that ends sends a prompt to the agent by itself.
    if match := _TASK_NOTIFICATION.match(event.prompt):
        yield AgentStatement(kind="task_ended", task=match[1])
        yield AgentStatement(
            state="running", payload=build_payload(prompted_by="task", transcript=event.transcript_path)
        )
    else:
        yield AgentStatement(
            state="running", payload=build_payload(prompt=event.prompt, transcript=event.transcript_path)
        )


def _read_tool_use(event: ClaudeHookPayload, _: int) -> Iterable[AgentStatement]:
    task = event.tool_response.get("backgroundTaskId") if isinstance(event.tool_response, dict) else None
    if isinstance(task, str) and task:
        yield AgentStatement(kind="task_began", task=task)
    payload = build_payload(tool=event.tool_name, command=_summarize_tool_input(event.tool_input), error=event.error)
    if event.agent_id:
        yield AgentStatement(kind="note", payload={**payload, "inside": event.agent_id})
    else:
        yield AgentStatement(state="idle" if event.is_interrupt else "running", payload=payload)


def _read_permission_request(event: ClaudeHookPayload, _: int) -> Iterable[AgentStatement]:
    state: StateName = "waiting_input" if event.tool_name == QUESTION_TOOL else "waiting_approval"
    command, question = _summarize_tool_input(event.tool_input), _find_question(event.tool_input)
    yield AgentStatement(state=state, payload=build_payload(tool=event.tool_name, command=command, question=question))


def _read_permission_denied(event: ClaudeHookPayload, _: int) -> Iterable[AgentStatement]:
    # No state: the agent continues without the tool.
    yield AgentStatement(kind="note", payload=build_payload(tool=event.tool_name, denied=event.reason))


def _read_notification(event: ClaudeHookPayload, _: int) -> Iterable[AgentStatement]:
    payload = build_payload(message=event.message, notice=event.notification_type)
    state = STATES_BY_NOTIFICATION.get(event.notification_type)
    if state is not None:
        yield AgentStatement(state=state, payload=payload)
    else:
        flags = FlagUpdate(auth_needed=False if event.notification_type == "auth_success" else None)
        yield AgentStatement(kind="note", flags=flags, payload=payload)


def _read_elicitation(event: ClaudeHookPayload, _: int) -> Iterable[AgentStatement]:
    yield AgentStatement(state="waiting_input", payload=build_payload(question=event.message))


def _read_elicitation_result(event: ClaudeHookPayload, _: int) -> Iterable[AgentStatement]:
    yield AgentStatement(state="running")


def _read_stop(event: ClaudeHookPayload, _: int) -> Iterable[AgentStatement]:
    tasks = None
    if event.background_tasks is not None:
        tasks = tuple(task.id for task in event.background_tasks if task.status in ("running", "pending"))
    yield AgentStatement(
        state="completed", tasks=tasks, payload=build_payload(last_message=event.last_assistant_message)
    )


def _read_stop_failure(event: ClaudeHookPayload, now: int) -> Iterable[AgentStatement]:
    payload = build_payload(error=event.error, message=event.last_assistant_message, details=event.error_details)
    yield AgentStatement(
        state="error", flags=build_error_flags(event.error, event.last_assistant_message, now), payload=payload
    )


def _read_subagent_start(event: ClaudeHookPayload, _: int) -> Iterable[AgentStatement]:
    if event.agent_id:
        yield AgentStatement(kind="task_began", task=event.agent_id, payload=build_payload(agent_type=event.agent_type))


def _read_subagent_stop(event: ClaudeHookPayload, _: int) -> Iterable[AgentStatement]:
    # A compaction uses a sub-agent without a type whose start is not reported; ignore its end, too.
    if event.agent_id and event.agent_type:
        yield AgentStatement(kind="task_ended", task=event.agent_id, payload=build_payload(agent_type=event.agent_type))


def _read_pre_compact(event: ClaudeHookPayload, _: int) -> Iterable[AgentStatement]:
    yield AgentStatement(
        state="running", flags=FlagUpdate(compacting=True), payload=build_payload(trigger=event.trigger)
    )


def _read_post_compact(event: ClaudeHookPayload, _: int) -> Iterable[AgentStatement]:
    # A manual compaction is the whole turn; an automatic one happens within a turn.
    state: StateName = "idle" if event.trigger == "manual" else "running"
    yield AgentStatement(state=state, flags=FlagUpdate(compacting=False), payload=build_payload(trigger=event.trigger))


def _read_model_switch(event: ClaudeHookPayload, _: int) -> Iterable[AgentStatement]:
    yield AgentStatement(kind="note", payload=build_payload(model=event.to_model))


def _summarize_tool_input(tool_input: Any) -> str:
    """Return a tool call in one line: its command, or the file or URL it uses."""
    if not isinstance(tool_input, Mapping):
        return ""
    values = (tool_input.get(name) for name in ("command", "file_path", "notebook_path", "url", "query", "description"))
    return next((value for value in values if isinstance(value, str) and value), "")


def _find_question(tool_input: Any) -> str:
    questions = tool_input.get("questions") if isinstance(tool_input, Mapping) else None
    first = questions[0] if isinstance(questions, list) and questions else None
    question = first.get("question") if isinstance(first, Mapping) else None
    return question if isinstance(question, str) else ""


EVENT_READERS: dict[str, Callable[[ClaudeHookPayload, int], Iterable[AgentStatement]]] = {
    "SessionStart": _read_session_start,
    "SessionEnd": _read_session_end,
    "UserPromptSubmit": _read_prompt,
    "PreToolUse": _read_tool_use,
    "PostToolUse": _read_tool_use,
    "PostToolUseFailure": _read_tool_use,
    "PermissionRequest": _read_permission_request,
    "PermissionDenied": _read_permission_denied,
    "Notification": _read_notification,
    "Elicitation": _read_elicitation,
    "ElicitationResult": _read_elicitation_result,
    "Stop": _read_stop,
    "StopFailure": _read_stop_failure,
    "SubagentStart": _read_subagent_start,
    "SubagentStop": _read_subagent_stop,
    "PreCompact": _read_pre_compact,
    "PostCompact": _read_post_compact,
    "PostModelSwitch": _read_model_switch,
}
