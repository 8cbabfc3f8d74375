"""Which events of an agent we listen to, and what is found of that in its settings.

Not every event is worth a hook: Gemini's `AfterModel` comes with every streamed piece, and its `PreCompress` with every
turn whether or not anything is compressed.
"""

from typing import Literal

from msgspec import Struct

HookedAgent = Literal["claude_code", "codex", "gemini", "copilot", "opencode"]
HookScope = Literal["user", "project"]
HOOK_COMMAND_MARKER = "# visor setup agents"
"""The end of every command of ours, by which it is known again."""


class HookEvents(Struct, frozen=True, kw_only=True):
    """One agent's events, by its own names; at ``asks`` a person may answer from elsewhere."""

    programs: tuple[str, ...]
    """Any of these on the PATH means that it is installed."""
    events: tuple[str, ...] = ()
    permission_event: str = ""


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
"""Codex shows no dialog while its hook runs, and its server brings its requests anyway. Copilot asks also for what is
allowed anyway: there only the policy answers."""


HookFileState = Literal["absent", "current", "changed", "unreadable"]


class HookedFile(Struct, frozen=True, kw_only=True):
    """What was found in one agent's file. ``changed``: ours are there, but not as they would be set up now."""

    agent: HookedAgent
    path: str
    state: HookFileState
    detail: str = ""
