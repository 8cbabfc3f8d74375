"""What an agent's hook says when the agent asks whether it may use a tool, as an action to be judged. Pure."""

import os
import shlex
from typing import Any, Literal

import msgspec
from msgspec import Struct

from termvisor.errors import BadRequest, Unsupported
from termvisor.model.action.action import AnswerAgent
from termvisor.model.ids import PaneId

Asker = Literal["claude_code", "codex", "copilot"]
"""Agents whose hook may answer in the place of their dialog."""
NOT_KEPT_WAITING = frozenset({"copilot"})
"""Their hook asks also for what is allowed anyway, and no dialog is open while it runs: only the policy answers it. For
all else the dialog opens, which is brought to the inbox by itself."""
FOR_THE_DIALOG = frozenset({"AskUserQuestion", "ExitPlanMode"})
"""Tools that are questions themselves: yes or no is no answer to them."""
_NAMES = {"toolName": "tool_name", "toolInput": "tool_input", "sessionId": "session_id"}
_PATHS = ("file_path", "notebook_path")
_WRITES = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})


class Plea(Struct, frozen=True, kw_only=True):
    """The payload of a `PermissionRequest`; all of it is the agent's own word."""

    tool_name: str
    tool_input: dict[str, Any] = {}
    session_id: str = ""
    cwd: str = ""


def understood(text: str) -> Plea:
    """Raises ``BadRequest`` for what is no request, ``Unsupported`` for one that only its dialog can answer."""
    try:
        plea = msgspec.json.decode(_snake(text), type=Plea)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise BadRequest(
            f"this is no permission request: {error}", hint="An agent's hook gives it on stdin."
        ) from error
    if plea.tool_name in FOR_THE_DIALOG:
        raise Unsupported(f"{plea.tool_name} is a question of its own", hint="Answer it in the agent's dialog.")
    return plea


def _snake(text: str) -> bytes:
    """Copilot's names in the way in which the others write them."""
    told = msgspec.json.decode(text)
    if not isinstance(told, dict):
        return text.encode("utf-8", "replace")
    return msgspec.json.encode({_NAMES.get(name, name): value for name, value in told.items()})


def action(agent: Asker, plea: Plea, pane: PaneId | None) -> AnswerAgent:
    rest = dict(plea.tool_input)
    command = _command(rest.pop("command", ""))
    found = [rest.pop(name) for name in _PATHS if name in rest] if plea.tool_name in _WRITES else []
    return AnswerAgent(
        agent=agent,
        tool=plea.tool_name,
        command=command,
        writes=tuple(map(str, found)),
        given=msgspec.json.encode(rest).decode() if rest else "",
        cwd=plea.cwd,
        session=plea.session_id,
        pane=pane,
        request=os.urandom(8).hex(),
    )


def _command(told: object) -> str:
    return shlex.join(map(str, told)) if isinstance(told, list) else str(told)
