"""Parse the permission request of an agent's hook into an action for the gate. Pure."""

import os
import shlex
from typing import Any, Literal

import msgspec
from msgspec import Struct

from termvisor.errors import BadRequest, Unsupported
from termvisor.model.action.action import AnswerAgent
from termvisor.model.ids import PaneId

PermissionHookAgent = Literal["claude_code", "codex", "copilot"]
"""Agents whose hook can answer in place of their dialog."""
POLICY_ONLY_AGENTS = frozenset({"copilot"})
"""Agents whose hook also runs for tools that are allowed anyway and blocks the dialog while it runs. Only the policy
answers it; otherwise the dialog opens, and that is detected and put into the inbox."""
DIALOG_ONLY_TOOLS = frozenset({"AskUserQuestion", "ExitPlanMode"})
"""Tools whose dialog has more answers than yes and no."""
_SNAKE_CASE_NAMES = {"toolName": "tool_name", "toolInput": "tool_input", "sessionId": "session_id"}
_PATH_FIELDS = ("file_path", "notebook_path")
_WRITING_TOOLS = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})


class PermissionPayload(Struct, frozen=True, kw_only=True):
    """The payload of a `PermissionRequest` hook; none of it is verified."""

    tool_name: str
    tool_input: dict[str, Any] = {}
    session_id: str = ""
    cwd: str = ""


def parse_permission_payload(text: str) -> PermissionPayload:
    """Parse the hook's JSON.

    Raises BadRequest if it is not a permission request, Unsupported if only the agent's dialog can answer it.
    """
    try:
        payload = msgspec.json.decode(_convert_field_names(text), type=PermissionPayload)
    # The text comes from an agent: lone surrogates and deeply nested JSON must not become an internal error.
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise BadRequest(
            f"not a permission request: {error}", hint="The agent's hook passes it as JSON on stdin."
        ) from error
    if payload.tool_name in DIALOG_ONLY_TOOLS:
        raise Unsupported(
            f"{payload.tool_name} has more answers than yes and no", hint="Answer it in the agent's dialog."
        )
    return payload


def _convert_field_names(text: str) -> bytes:
    """Convert Copilot's camel case field names to those of the other agents."""
    payload = msgspec.json.decode(text)
    if not isinstance(payload, dict):
        return text.encode("utf-8", "replace")
    return msgspec.json.encode({_SNAKE_CASE_NAMES.get(name, name): value for name, value in payload.items()})


def build_answer_action(agent: PermissionHookAgent, payload: PermissionPayload, pane: PaneId | None) -> AnswerAgent:
    rest = dict(payload.tool_input)
    command = rest.pop("command", "")
    paths = [rest.pop(name) for name in _PATH_FIELDS if name in rest] if payload.tool_name in _WRITING_TOOLS else []
    return AnswerAgent(
        agent=agent,
        tool=payload.tool_name,
        command=shlex.join(map(str, command)) if isinstance(command, list) else str(command),
        writes=tuple(map(str, paths)),
        given=msgspec.json.encode(rest).decode() if rest else "",
        cwd=payload.cwd,
        session=payload.session_id,
        pane=pane,
        request=os.urandom(8).hex(),
    )
