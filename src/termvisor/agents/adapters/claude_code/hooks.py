"""The hooks: what Claude Code tells a command that its settings name, at each step of a turn.

They have holes: an interrupt and a refusal by Escape fire none. What happens inside a sub-agent is told with its id
and is no news of the agent itself, except that a permission is wanted.
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
"""Known, and without news of the state."""
QUESTION_TOOL = "AskUserQuestion"
MANUAL_END_REASONS = frozenset({"prompt_input_exit", "logout", "clear", "resume"})
STATES_BY_NOTIFICATION: dict[str, StateName] = {
    "worker_permission_prompt": "waiting_approval",
    "agent_needs_input": "waiting_input",
    "elicitation_dialog": "waiting_input",
    "elicitation_url_dialog": "waiting_input",
}
"""Notices that say what the agent waits for. `permission_prompt` does not: it comes for questions, too, and late."""
_EVENT_NAME_CHARS = 64
"""Characters of a line in which its event is named."""
_TASK_NOTIFICATION = re.compile(r"\A\s*<task-notification>\s*<task-id>([\w-]{1,64})</task-id>")


class ClaudeBackgroundTask(Struct, frozen=True):
    id: str
    status: str = "running"


class ClaudeHookPayload(Struct, frozen=True):
    """The payload; of each event only some of it is there."""

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
    if (
        f'"{status_line.STATUS_LINE_EVENT}"' in record.text[:_EVENT_NAME_CHARS]
        and (hook := parse_hook_event(record)) is not None
    ):
        return status_line.read_status_line(hook)
    try:
        line = msgspec.json.decode(record.text, type=ClaudeHookLine)
    except JSON_ERRORS:
        return [build_unknown_statement("a hook's line of another form")]
    if line.event in STATELESS_EVENTS:
        return []
    tell = EVENT_READERS.get(line.event)
    if tell is None:
        return [build_unknown_statement(f"the hook event {line.event}")]
    return add_context(tell(line.payload, record.at), at=line.at * NS_PER_MS, session=line.payload.session_id)


def _read_session_start(event: ClaudeHookPayload, _: int) -> Iterable[AgentStatement]:
    about = build_payload(model=event.model, transcript=event.transcript_path, began_by=event.source)
    title = event.session_title or None
    if event.source == "compact":
        yield AgentStatement(kind="note", title=title, payload=about)
    else:
        yield AgentStatement(state="idle", title=title, payload=about)


def _read_session_end(event: ClaudeHookPayload, _: int) -> Iterable[AgentStatement]:
    """The process may live on (`/clear`), so this is no exit."""
    end = "manual" if event.reason in MANUAL_END_REASONS else ""
    yield AgentStatement(kind="note", payload=build_payload(end_reason=end, left_by=event.reason))


def _read_prompt(event: ClaudeHookPayload, _: int) -> Iterable[AgentStatement]:
    """A task that ended in the background prompts the agent by itself."""
    if found := _TASK_NOTIFICATION.match(event.prompt):
        yield AgentStatement(kind="task_ended", task=found[1])
        yield AgentStatement(
            state="running", payload=build_payload(prompted_by="task", transcript=event.transcript_path)
        )
    else:
        yield AgentStatement(
            state="running", payload=build_payload(prompt=event.prompt, transcript=event.transcript_path)
        )


def _read_tool_use(event: ClaudeHookPayload, _: int) -> Iterable[AgentStatement]:
    started = event.tool_response.get("backgroundTaskId") if isinstance(event.tool_response, dict) else None
    if isinstance(started, str) and started:
        yield AgentStatement(kind="task_began", task=started)
    about = build_payload(tool=event.tool_name, command=_summarize_tool_input(event.tool_input), error=event.error)
    if event.agent_id:
        yield AgentStatement(kind="note", payload={**about, "inside": event.agent_id})
    else:
        yield AgentStatement(state="idle" if event.is_interrupt else "running", payload=about)


def _read_permission_request(event: ClaudeHookPayload, _: int) -> Iterable[AgentStatement]:
    state: StateName = "waiting_input" if event.tool_name == QUESTION_TOOL else "waiting_approval"
    command, question = _summarize_tool_input(event.tool_input), _find_question(event.tool_input)
    yield AgentStatement(state=state, payload=build_payload(tool=event.tool_name, command=command, question=question))


def _read_permission_denied(event: ClaudeHookPayload, _: int) -> Iterable[AgentStatement]:
    """The agent goes on without it."""
    yield AgentStatement(kind="note", payload=build_payload(tool=event.tool_name, denied=event.reason))


def _read_notification(event: ClaudeHookPayload, _: int) -> Iterable[AgentStatement]:
    about = build_payload(message=event.message, notice=event.notification_type)
    state = STATES_BY_NOTIFICATION.get(event.notification_type)
    if state is not None:
        yield AgentStatement(state=state, payload=about)
    else:
        flags = FlagUpdate(auth_needed=False if event.notification_type == "auth_success" else None)
        yield AgentStatement(kind="note", flags=flags, payload=about)


def _read_elicitation(event: ClaudeHookPayload, _: int) -> Iterable[AgentStatement]:
    yield AgentStatement(state="waiting_input", payload=build_payload(question=event.message))


def _read_elicitation_result(event: ClaudeHookPayload, _: int) -> Iterable[AgentStatement]:
    yield AgentStatement(state="running")


def _read_stop(event: ClaudeHookPayload, _: int) -> Iterable[AgentStatement]:
    """The turn is over; what still runs in the background will begin another."""
    given = event.background_tasks
    tasks = None if given is None else tuple(task.id for task in given if task.status in ("running", "pending"))
    yield AgentStatement(
        state="completed", tasks=tasks, payload=build_payload(last_message=event.last_assistant_message)
    )


def _read_stop_failure(event: ClaudeHookPayload, now: int) -> Iterable[AgentStatement]:
    about = build_payload(error=event.error, message=event.last_assistant_message, details=event.error_details)
    yield AgentStatement(
        state="error", flags=build_error_flags(event.error, event.last_assistant_message, now), payload=about
    )


def _read_subagent_start(event: ClaudeHookPayload, _: int) -> Iterable[AgentStatement]:
    if event.agent_id:
        yield AgentStatement(kind="task_began", task=event.agent_id, payload=build_payload(agent_type=event.agent_type))


def _read_subagent_stop(event: ClaudeHookPayload, _: int) -> Iterable[AgentStatement]:
    """A compaction is done by a sub-agent without a type that nobody was told of; its end is no news either."""
    if event.agent_id and event.agent_type:
        yield AgentStatement(kind="task_ended", task=event.agent_id, payload=build_payload(agent_type=event.agent_type))


def _read_pre_compact(event: ClaudeHookPayload, _: int) -> Iterable[AgentStatement]:
    yield AgentStatement(
        state="running", flags=FlagUpdate(compacting=True), payload=build_payload(trigger=event.trigger)
    )


def _read_post_compact(event: ClaudeHookPayload, _: int) -> Iterable[AgentStatement]:
    """By hand it is all there was to do; by itself it was in the middle of a turn."""
    state: StateName = "idle" if event.trigger == "manual" else "running"
    yield AgentStatement(state=state, flags=FlagUpdate(compacting=False), payload=build_payload(trigger=event.trigger))


def _read_model_switch(event: ClaudeHookPayload, _: int) -> Iterable[AgentStatement]:
    yield AgentStatement(kind="note", payload=build_payload(model=event.to_model))


def _summarize_tool_input(tool_input: Any) -> str:
    """What a tool is about to do, in a line: its command, or the file or address that it is about."""
    if not isinstance(tool_input, Mapping):
        return ""
    found = (tool_input.get(name) for name in ("command", "file_path", "notebook_path", "url", "query", "description"))
    return next((one for one in found if isinstance(one, str) and one), "")


def _find_question(tool_input: Any) -> str:
    asked = tool_input.get("questions") if isinstance(tool_input, Mapping) else None
    first = asked[0] if isinstance(asked, list) and asked else None
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
