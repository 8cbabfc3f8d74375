"""Agent hooks: the hooked events, the state of hooks in settings files, and the reported end of a tool.

Not every event gets a hook: Gemini's `AfterModel` fires for every streamed chunk, and its `PreCompress` in every turn
whether or not anything is compressed.
"""

from typing import Literal

import msgspec
from msgspec import Struct

HookedAgent = Literal["claude_code", "codex", "gemini", "copilot", "opencode"]
HookScope = Literal["user", "project"]
HOOK_COMMAND_MARKER = "# visor setup agents"
"""Suffix of every installed command, by which our hooks are recognised."""


class HookEvents(Struct, frozen=True, kw_only=True):
    """The hooked events of an agent, by its own names. ``permission_event`` can be answered from outside the pane."""

    programs: tuple[str, ...]
    """The agent is installed if any of these is on the PATH."""
    events: tuple[str, ...] = ()
    permission_event: str = ""
    first_versions: dict[str, str] = {}
    """For some events, the first version that is known to accept them; older ones reject the whole settings file."""


HOOK_EVENTS_BY_AGENT: dict[HookedAgent, HookEvents] = {
    "claude_code": HookEvents(
        programs=("claude",),
        events=(
            "SessionStart",
            "SessionEnd",
            "UserPromptSubmit",
            "PreToolUse",
            "PermissionRequest",
            "PermissionDenied",
            "PostToolUse",
            "PostToolUseFailure",
            "Notification",
            "Stop",
            "StopFailure",
            "SubagentStart",
            "SubagentStop",
            "PreCompact",
            "PostCompact",
        ),
        permission_event="PermissionRequest",
        first_versions={
            "PostToolUseFailure": "2.0.76",
            "PermissionDenied": "2.1.112",
            "StopFailure": "2.1.112",
            "PostCompact": "2.1.112",
        },
    ),
    "codex": HookEvents(
        programs=("codex",),
        events=(
            "SessionStart",
            "UserPromptSubmit",
            "PreToolUse",
            "PermissionRequest",
            "PostToolUse",
            "PostModelRequest",
            "PreCompact",
            "PostCompact",
            "SubagentStart",
            "SubagentStop",
            "Stop",
            "Interrupt",
            "SessionEnd",
        ),
    ),
    "gemini": HookEvents(
        programs=("gemini",),
        events=("SessionStart", "SessionEnd", "BeforeAgent", "AfterAgent", "BeforeTool", "AfterTool", "Notification"),
    ),
    "copilot": HookEvents(
        programs=("copilot",),
        events=(
            "sessionStart",
            "sessionEnd",
            "userPromptSubmitted",
            "preToolUse",
            "postToolUse",
            "permissionRequest",
            "notification",
            "errorOccurred",
            "agentStop",
            "subagentStart",
            "subagentStop",
            "preCompact",
        ),
        permission_event="permissionRequest",
    ),
    "opencode": HookEvents(programs=("opencode",)),
}
"""Codex has no permission event here: it shows no dialog while its hook runs, and its server reports requests anyway.
Copilot's permission event also fires for allowed tools, so only the policy answers it."""

HookFileState = Literal["absent", "current", "changed", "unreadable"]


class HookedFile(Struct, frozen=True, kw_only=True):
    """The hooks in a settings file. ``changed``: installed, but different from what would be installed now."""

    agent: HookedAgent
    path: str
    state: HookFileState
    detail: str = ""


class ToolFinished(Struct, frozen=True, kw_only=True):
    """An agent's tool finished, so a pending permission request for it was answered.

    ``given`` is the tool's redacted input, as returned by `encode_tool_input`.
    """

    session: str
    tool: str
    given: str
    at: int


def encode_tool_input(tool_input: object) -> str:
    """Encode a tool's input as JSON with sorted keys, so that equal inputs compare equal."""
    return msgspec.json.encode(tool_input, order="sorted").decode()
