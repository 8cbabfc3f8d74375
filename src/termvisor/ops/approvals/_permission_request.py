"""What an agent's hook says when the agent asks whether it may use a tool, as an action to be judged. Pure."""

import os
import shlex
from typing import Any, Literal

import msgspec
from msgspec import Struct

from termvisor.errors import BadRequest, Unsupported
from termvisor.model.action.action import AnswerAgent
from termvisor.model.ids import PaneId

PermissionHookAgent = Literal["claude_code", "codex", "copilot"]
"""Agents whose hook may answer in the place of their dialog."""
POLICY_ONLY_AGENTS = frozenset({"copilot"})
"""Their hook asks also for what is allowed anyway, and no dialog is open while it runs: only the policy answers it. For
all else the dialog opens, which is brought to the inbox by itself."""
DIALOG_ONLY_TOOLS = frozenset({"AskUserQuestion", "ExitPlanMode"})
"""Tools that are questions themselves: yes or no is no answer to them."""
_SNAKE_CASE_NAMES = {"toolName": "tool_name", "toolInput": "tool_input", "sessionId": "session_id"}
_PATH_FIELDS = ("file_path", "notebook_path")
_WRITING_TOOLS = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})


class PermissionPayload(Struct, frozen=True, kw_only=True):
    """The payload of a `PermissionRequest`; all of it is the agent's own word."""

    tool_name: str
    tool_input: dict[str, Any] = {}
    session_id: str = ""
    cwd: str = ""


def parse_permission_payload(text: str) -> PermissionPayload:
    """Raises ``BadRequest`` for what is no request, ``Unsupported`` for one that only its dialog can answer."""
    try:
        plea = msgspec.json.decode(_convert_field_names(text), type=PermissionPayload)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise BadRequest(
            f"this is no permission request: {error}", hint="An agent's hook gives it on stdin."
        ) from error
    if plea.tool_name in DIALOG_ONLY_TOOLS:
        raise Unsupported(f"{plea.tool_name} is a question of its own", hint="Answer it in the agent's dialog.")
    return plea


def _convert_field_names(text: str) -> bytes:
    """Copilot's names in the way in which the others write them."""
    told = msgspec.json.decode(text)
    if not isinstance(told, dict):
        return text.encode("utf-8", "replace")
    return msgspec.json.encode({_SNAKE_CASE_NAMES.get(name, name): value for name, value in told.items()})


def build_answer_action(agent: PermissionHookAgent, payload: PermissionPayload, pane: PaneId | None) -> AnswerAgent:
    rest = dict(payload.tool_input)
    command = _format_command(rest.pop("command", ""))
    found = [rest.pop(name) for name in _PATH_FIELDS if name in rest] if payload.tool_name in _WRITING_TOOLS else []
    return AnswerAgent(
        agent=agent,
        tool=payload.tool_name,
        command=command,
        writes=tuple(map(str, found)),
        given=msgspec.json.encode(rest).decode() if rest else "",
        cwd=payload.cwd,
        session=payload.session_id,
        pane=pane,
        request=os.urandom(8).hex(),
    )


def _format_command(value: object) -> str:
    return shlex.join(map(str, value)) if isinstance(value, list) else str(value)
