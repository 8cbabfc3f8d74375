"""Read Claude Code hook events, and the input of its status line command.

Hooks do not report everything: none fires for an interrupt or a denial with Escape. Events inside a sub-agent have
its id and, except for permission requests, do not change the state of the agent.

If the user has set up the status line, its input arrives in the hook spool as a `StatusLine` event after every
message. It contains the model, the cost and the context usage, but not the state.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.claude_code.error_codes import build_error_flags
from termvisor.agents.adapters.json_access import NS_PER_MS, decode_json, get_int, get_object, get_str
from termvisor.agents.adapters.statements import (
    COMPACTION_START,
    AgentStatement,
    HookEvent,
    add_context,
    build_payload,
    build_unknown_statement,
    parse_hook_event,
)
from termvisor.model.agent.signal import FlagUpdate
from termvisor.model.agent.state import StateName

# Known events that do not change the state.
STATELESS_EVENTS = frozenset({"Setup", "InstructionsLoaded", "UserPromptExpansion", "MessageDisplay", "PostToolBatch"})
STATELESS_EVENTS |= {"TaskCreated", "TaskCompleted", "TeammateIdle", "ConfigChange", "CwdChanged", "DirectoryAdded"}
STATELESS_EVENTS |= {"FileChanged", "WorktreeCreate", "WorktreeRemove", "PreModelSwitch"}
_MANUAL_END_REASONS = frozenset({"prompt_input_exit", "logout", "clear", "resume"})
# Notifications that name what the agent waits for. `permission_prompt` does not: it is sent for questions, too, and six
# seconds late.
_STATES_BY_NOTIFICATION: dict[str, StateName] = {
    "worker_permission_prompt": "waiting_approval",
    "agent_needs_input": "waiting_input",
    "elicitation_dialog": "waiting_input",
    "elicitation_url_dialog": "waiting_input",
}
_SUMMARY_FIELDS = ("command", "file_path", "notebook_path", "url", "query", "description")
# The event name is within this many characters from the start of a spool line.
_EVENT_NAME_CHARS = 64
_TASK_NOTIFICATION = re.compile(r"\A\s*<task-notification>\s*<task-id>([\w-]{1,64})</task-id>")


class ClaudeBackgroundTask(Struct, frozen=True):
    id: str
    status: str = "running"


class ClaudeHookPayload(Struct, frozen=True):
    """The payload fields of all events, of which each event has some."""

    session_id: str = ""
    transcript_path: str = ""
    agent_id: str = ""
    agent_type: str | None = None
    """Absent at the end of a sub-agent in older versions."""
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
    if '"StatusLine"' in record.text[:_EVENT_NAME_CHARS] and (hook := parse_hook_event(record)) is not None:
        return _read_status_line(hook)
    line = decode_json(record.text, ClaudeHookLine)
    if line is None:
        return [build_unknown_statement("malformed hook line")]
    if line.event in STATELESS_EVENTS:
        return []
    read_event = EVENT_READERS.get(line.event)
    if read_event is None:
        return [build_unknown_statement(f"hook event {line.event}")]
    statements = read_event(line.payload, record.at)
    return add_context(statements, at=line.at * NS_PER_MS, session=line.payload.session_id)


def _read_status_line(hook: HookEvent) -> list[AgentStatement]:
    """Return the model, version, cost and context usage as a note; nothing if the event has none of them."""
    fields = hook.payload
    window, cost = get_object(fields, "context_window"), get_object(fields, "cost").get("total_cost_usd")
    percent = window.get("used_percentage")
    used = min(1.0, max(0.0, percent / 100)) if isinstance(percent, int | float) else None
    payload = build_payload(
        model=get_str(get_object(fields, "model"), "id"),
        version=get_str(fields, "version"),
        cost_so_far=float(cost) if isinstance(cost, int | float) and cost > 0 else None,
        context_used=used,
        context_size=None if used is None else get_int(window, "context_window_size"),
    )
    if not payload:
        return []
    return [AgentStatement(kind="note", session=get_str(fields, "session_id"), at=hook.at, payload=payload)]


def _read_session_start(event: ClaudeHookPayload, _: int) -> Sequence[AgentStatement]:
    payload = build_payload(model=event.model, transcript=event.transcript_path, began_by=event.source)
    title = event.session_title or None
    # A compaction reports this between PreCompact and PostCompact, while the agent is working.
    if event.source == "compact":
        return [AgentStatement(kind="note", title=title, payload=payload)]
    return [AgentStatement(state="idle", title=title, payload=payload)]


def _read_session_end(event: ClaudeHookPayload, _: int) -> Sequence[AgentStatement]:
    # Not an exit, because after `/clear` the process continues with another session.
    end_reason = "manual" if event.reason in _MANUAL_END_REASONS else ""
    return [AgentStatement(kind="note", payload=build_payload(end_reason=end_reason, left_by=event.reason))]


def _read_prompt(event: ClaudeHookPayload, _: int) -> Sequence[AgentStatement]:
    transcript = event.transcript_path
    # A background task that ends sends a prompt to the agent on its own.
    if match := _TASK_NOTIFICATION.match(event.prompt):
        payload = build_payload(prompted_by="task", transcript=transcript)
        return [AgentStatement(kind="task_ended", task=match[1]), AgentStatement(state="running", payload=payload)]
    return [AgentStatement(state="running", payload=build_payload(prompt=event.prompt, transcript=transcript))]


def _read_tool_use(event: ClaudeHookPayload, _: int) -> Sequence[AgentStatement]:
    task = event.tool_response.get("backgroundTaskId") if isinstance(event.tool_response, dict) else None
    started = [AgentStatement(kind="task_began", task=task)] if isinstance(task, str) and task else []
    payload = build_payload(tool=event.tool_name, command=_summarize_tool_input(event.tool_input), error=event.error)
    if event.agent_id:
        return [*started, AgentStatement(kind="note", payload={**payload, "inside": event.agent_id})]
    return [*started, AgentStatement(state="idle" if event.is_interrupt else "running", payload=payload)]


def _read_permission_request(event: ClaudeHookPayload, _: int) -> Sequence[AgentStatement]:
    state: StateName = "waiting_input" if event.tool_name == "AskUserQuestion" else "waiting_approval"
    command, question = _summarize_tool_input(event.tool_input), _find_question(event.tool_input)
    return [
        AgentStatement(state=state, payload=build_payload(tool=event.tool_name, command=command, question=question))
    ]


def _read_permission_denied(event: ClaudeHookPayload, _: int) -> Sequence[AgentStatement]:
    # Reports no state, because the agent continues without the tool.
    return [AgentStatement(kind="note", payload=build_payload(tool=event.tool_name, denied=event.reason))]


def _read_notification(event: ClaudeHookPayload, _: int) -> Sequence[AgentStatement]:
    payload = build_payload(message=event.message, notice=event.notification_type)
    state = _STATES_BY_NOTIFICATION.get(event.notification_type)
    if state is not None:
        return [AgentStatement(state=state, payload=payload)]
    flags = FlagUpdate(auth_needed=False if event.notification_type == "auth_success" else None)
    return [AgentStatement(kind="note", flags=flags, payload=payload)]


def _read_elicitation(event: ClaudeHookPayload, _: int) -> Sequence[AgentStatement]:
    return [AgentStatement(state="waiting_input", payload=build_payload(question=event.message))]


def _read_stop(event: ClaudeHookPayload, _: int) -> Sequence[AgentStatement]:
    tasks = None
    # Remaining background work starts another turn when it ends, so the agent is not done.
    if event.background_tasks is not None:
        tasks = tuple(task.id for task in event.background_tasks if task.status in ("running", "pending"))
    payload = build_payload(last_message=event.last_assistant_message)
    return [AgentStatement(state="completed", tasks=tasks, payload=payload)]


def _read_stop_failure(event: ClaudeHookPayload, now: int) -> Sequence[AgentStatement]:
    payload = build_payload(error=event.error, message=event.last_assistant_message, details=event.error_details)
    flags = build_error_flags(event.error, event.last_assistant_message, now)
    return [AgentStatement(state="error", flags=flags, payload=payload)]


def _read_subagent_start(event: ClaudeHookPayload, _: int) -> Sequence[AgentStatement]:
    payload = build_payload(agent_type=event.agent_type)
    return [AgentStatement(kind="task_began", task=event.agent_id, payload=payload)] if event.agent_id else []


def _read_subagent_stop(event: ClaudeHookPayload, _: int) -> Sequence[AgentStatement]:
    # A compaction uses a sub-agent with an empty type. Its start is not reported, so ignore its end, too.
    is_task = event.agent_id and event.agent_type != ""
    payload = build_payload(agent_type=event.agent_type)
    return [AgentStatement(kind="task_ended", task=event.agent_id, payload=payload)] if is_task else []


def _read_post_compact(event: ClaudeHookPayload, _: int) -> Sequence[AgentStatement]:
    # A manual compaction is the whole turn; an automatic one happens within a turn.
    state: StateName = "idle" if event.trigger == "manual" else "running"
    payload = build_payload(trigger=event.trigger)
    return [AgentStatement(state=state, flags=FlagUpdate(compacting=False), payload=payload)]


def _summarize_tool_input(tool_input: Any) -> str:
    """Summarize a tool call in one line: its command, or the file or URL it uses."""
    if not isinstance(tool_input, Mapping):
        return ""
    values = (tool_input.get(name) for name in _SUMMARY_FIELDS)
    return next((value for value in values if isinstance(value, str) and value), "")


def _find_question(tool_input: Any) -> str:
    questions = tool_input.get("questions") if isinstance(tool_input, Mapping) else None
    first = questions[0] if isinstance(questions, list) and questions else None
    return get_str(first, "question") if isinstance(first, Mapping) else ""


EVENT_READERS: dict[str, Callable[[ClaudeHookPayload, int], Sequence[AgentStatement]]] = {
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
    "ElicitationResult": lambda event, now: [AgentStatement(state="running")],
    "Stop": _read_stop,
    "StopFailure": _read_stop_failure,
    "SubagentStart": _read_subagent_start,
    "SubagentStop": _read_subagent_stop,
    "PreCompact": lambda event, _: [replace(COMPACTION_START, payload=build_payload(trigger=event.trigger))],
    "PostCompact": _read_post_compact,
    "PostModelSwitch": lambda event, now: [AgentStatement(kind="note", payload=build_payload(model=event.to_model))],
}
