"""The hooks: what Claude Code tells a command that its settings name, at each step of a turn.

They have holes: an interrupt and a refusal by Escape fire none. What happens inside a sub-agent is told with its id
and is no news of the agent itself, except that a permission is wanted.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from termvisor.agents.adapters.adapter import Record
from termvisor.agents.adapters.claude_code import status_line
from termvisor.agents.adapters.claude_code.error_codes import flags_of
from termvisor.agents.adapters.json_access import BROKEN, MILLISECOND
from termvisor.agents.adapters.statements import Said, framed, hook_of, not_understood, payload
from termvisor.model.agent.signal import FlagsTold
from termvisor.model.agent.state import StateName

SILENT_EVENTS = frozenset(
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
QUESTION = "AskUserQuestion"
MANUAL_ENDS = frozenset({"prompt_input_exit", "logout", "clear", "resume"})
NOTICES: dict[str, StateName] = {
    "worker_permission_prompt": "waiting_approval",
    "agent_needs_input": "waiting_input",
    "elicitation_dialog": "waiting_input",
    "elicitation_url_dialog": "waiting_input",
}
"""Notices that say what the agent waits for. `permission_prompt` does not: it comes for questions, too, and late."""
_HEAD = 64
"""Characters of a line in which its event is named."""
_TASK = re.compile(r"\A\s*<task-notification>\s*<task-id>([\w-]{1,64})</task-id>")


class Task(Struct, frozen=True):
    id: str
    status: str = "running"


class Event(Struct, frozen=True):
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
    background_tasks: tuple[Task, ...] | None = None
    trigger: str = ""
    reason: str = ""
    to_model: str = ""


class Line(Struct, frozen=True):
    event: str
    at: int = 0
    payload: Event = Event()


def read(record: Record) -> list[Said]:
    if f'"{status_line.EVENT}"' in record.text[:_HEAD] and (hook := hook_of(record)) is not None:
        return status_line.read(hook)
    try:
        line = msgspec.json.decode(record.text, type=Line)
    except BROKEN:
        return [not_understood("a hook's line of another form")]
    if line.event in SILENT_EVENTS:
        return []
    tell = EVENTS.get(line.event)
    if tell is None:
        return [not_understood(f"the hook event {line.event}")]
    return framed(tell(line.payload, record.at), at=line.at * MILLISECOND, session=line.payload.session_id)


def _session_start(event: Event, _: int) -> Iterable[Said]:
    about = payload(model=event.model, transcript=event.transcript_path, began_by=event.source)
    title = event.session_title or None
    if event.source == "compact":
        yield Said(kind="note", title=title, payload=about)
    else:
        yield Said(state="idle", title=title, payload=about)


def _session_end(event: Event, _: int) -> Iterable[Said]:
    """The process may live on (`/clear`), so this is no exit."""
    end = "manual" if event.reason in MANUAL_ENDS else ""
    yield Said(kind="note", payload=payload(end_reason=end, left_by=event.reason))


def _prompt(event: Event, _: int) -> Iterable[Said]:
    """A task that ended in the background prompts the agent by itself."""
    if found := _TASK.match(event.prompt):
        yield Said(kind="task_ended", task=found[1])
        yield Said(state="running", payload=payload(prompted_by="task", transcript=event.transcript_path))
    else:
        yield Said(state="running", payload=payload(prompt=event.prompt, transcript=event.transcript_path))


def _tool(event: Event, _: int) -> Iterable[Said]:
    started = event.tool_response.get("backgroundTaskId") if isinstance(event.tool_response, dict) else None
    if isinstance(started, str) and started:
        yield Said(kind="task_began", task=started)
    about = payload(tool=event.tool_name, command=_command(event.tool_input), error=event.error)
    if event.agent_id:
        yield Said(kind="note", payload={**about, "inside": event.agent_id})
    else:
        yield Said(state="idle" if event.is_interrupt else "running", payload=about)


def _permission(event: Event, _: int) -> Iterable[Said]:
    state: StateName = "waiting_input" if event.tool_name == QUESTION else "waiting_approval"
    command, question = _command(event.tool_input), _question(event.tool_input)
    yield Said(state=state, payload=payload(tool=event.tool_name, command=command, question=question))


def _denied(event: Event, _: int) -> Iterable[Said]:
    """The agent goes on without it."""
    yield Said(kind="note", payload=payload(tool=event.tool_name, denied=event.reason))


def _notice(event: Event, _: int) -> Iterable[Said]:
    about = payload(message=event.message, notice=event.notification_type)
    state = NOTICES.get(event.notification_type)
    if state is not None:
        yield Said(state=state, payload=about)
    else:
        flags = FlagsTold(auth_needed=False if event.notification_type == "auth_success" else None)
        yield Said(kind="note", flags=flags, payload=about)


def _asked(event: Event, _: int) -> Iterable[Said]:
    yield Said(state="waiting_input", payload=payload(question=event.message))


def _answered(event: Event, _: int) -> Iterable[Said]:
    yield Said(state="running")


def _stop(event: Event, _: int) -> Iterable[Said]:
    """The turn is over; what still runs in the background will begin another."""
    given = event.background_tasks
    tasks = None if given is None else tuple(task.id for task in given if task.status in ("running", "pending"))
    yield Said(state="completed", tasks=tasks, payload=payload(last_message=event.last_assistant_message))


def _failed(event: Event, now: int) -> Iterable[Said]:
    about = payload(error=event.error, message=event.last_assistant_message, details=event.error_details)
    yield Said(state="error", flags=flags_of(event.error, event.last_assistant_message, now), payload=about)


def _agent_began(event: Event, _: int) -> Iterable[Said]:
    if event.agent_id:
        yield Said(kind="task_began", task=event.agent_id, payload=payload(agent_type=event.agent_type))


def _agent_ended(event: Event, _: int) -> Iterable[Said]:
    """A compaction is done by a sub-agent without a type that nobody was told of; its end is no news either."""
    if event.agent_id and event.agent_type:
        yield Said(kind="task_ended", task=event.agent_id, payload=payload(agent_type=event.agent_type))


def _compacting(event: Event, _: int) -> Iterable[Said]:
    yield Said(state="running", flags=FlagsTold(compacting=True), payload=payload(trigger=event.trigger))


def _compacted(event: Event, _: int) -> Iterable[Said]:
    """By hand it is all there was to do; by itself it was in the middle of a turn."""
    state: StateName = "idle" if event.trigger == "manual" else "running"
    yield Said(state=state, flags=FlagsTold(compacting=False), payload=payload(trigger=event.trigger))


def _switched(event: Event, _: int) -> Iterable[Said]:
    yield Said(kind="note", payload=payload(model=event.to_model))


def _command(given: Any) -> str:
    """What a tool is about to do, in a line: its command, or the file or address that it is about."""
    if not isinstance(given, Mapping):
        return ""
    found = (given.get(name) for name in ("command", "file_path", "notebook_path", "url", "query", "description"))
    return next((one for one in found if isinstance(one, str) and one), "")


def _question(given: Any) -> str:
    asked = given.get("questions") if isinstance(given, Mapping) else None
    first = asked[0] if isinstance(asked, list) and asked else None
    question = first.get("question") if isinstance(first, Mapping) else None
    return question if isinstance(question, str) else ""


EVENTS: dict[str, Callable[[Event, int], Iterable[Said]]] = {
    "SessionStart": _session_start,
    "SessionEnd": _session_end,
    "UserPromptSubmit": _prompt,
    "PreToolUse": _tool,
    "PostToolUse": _tool,
    "PostToolUseFailure": _tool,
    "PermissionRequest": _permission,
    "PermissionDenied": _denied,
    "Notification": _notice,
    "Elicitation": _asked,
    "ElicitationResult": _answered,
    "Stop": _stop,
    "StopFailure": _failed,
    "SubagentStart": _agent_began,
    "SubagentStop": _agent_ended,
    "PreCompact": _compacting,
    "PostCompact": _compacted,
    "PostModelSwitch": _switched,
}
