"""Common parts of both OpenAI APIs: errors, and the tool names of each program."""

import time
from typing import Any

from tests.live.agents.model.prompt_script import ScriptedReply, ToolRequest
from tests.live.agents.model.vendor_api import ErrorResponse

SHELL_TOOLS = ("exec_command", "shell_command", "shell", "bash", "Bash", "run_shell_command", "run_commands")
WRITE_TOOLS = ("apply_patch", "write", "create", "write_file")
LIMIT_DURATION_S = 3 * 3600
_ERRORS_BY_STATUS = {
    400: ("invalid_request_error", "Invalid request: an error in its parameters."),
    401: ("invalid_request_error", "Incorrect API key provided: dummy."),
    429: ("rate_limit_exceeded", "Rate limit reached for scripted-model. Please try again in 20s."),
    500: ("server_error", "The server had an error while processing your request."),
    503: ("server_is_overloaded", "The model is overloaded."),
}


def build_openai_error(reply: ScriptedReply) -> ErrorResponse:
    if reply.is_limit:
        error = {
            "type": "usage_limit_reached",
            "message": "The usage limit has been reached",
            "plan_type": "pro",
            "resets_at": int(time.time()) + reply.limit_duration_s,
            "resets_in_seconds": reply.limit_duration_s,
        }
        return ErrorResponse(429, {"error": error}, build_usage_headers(100.0, reply.limit_duration_s))
    kind, message = _ERRORS_BY_STATUS.get(reply.failure, ("server_error", "scripted error"))
    return ErrorResponse(reply.failure, {"error": {"message": message, "type": kind, "code": kind, "param": None}})


def build_usage_headers(used: float, ends_in: int = LIMIT_DURATION_S) -> dict[str, str]:
    """Return the headers with the usage of the subscription's two windows."""
    return {
        "x-codex-primary-used-percent": str(used),
        "x-codex-primary-window-minutes": "300",
        "x-codex-primary-reset-at": str(int(time.time()) + ends_in),
        "x-codex-secondary-used-percent": "10.0",
        "x-codex-secondary-window-minutes": "10080",
        "x-codex-secondary-reset-at": str(int(time.time()) + 400_000),
    }


def resolve_tool_call(tool: ToolRequest, offered: list[str]) -> tuple[str, dict[str, Any]]:
    """Return the real name and arguments, for the tools that this program offers."""
    if tool.name == "shell":
        name = next((one for one in SHELL_TOOLS if one in offered), "shell")
        risky = {
            "sandbox_permissions": "require_escalated",
            "with_escalated_permissions": True,  # up to Codex 0.6x
            "justification": "May it run?",
        }
        forms: dict[str, dict[str, Any]] = {
            "exec_command": {"cmd": tool.value, **risky},
            "shell_command": {"command": tool.value, **risky},
            "shell": {"command": ["bash", "-lc", tool.value], **risky},
            "run_commands": {"commands": [tool.value]},
        }
        return name, forms.get(name, {"command": tool.value, "description": "A scripted command"})
    if tool.name == "write":
        name = next((one for one in WRITE_TOOLS if one in offered), "write")
        if name == "apply_patch":
            return name, {"input": f"*** Begin Patch\n*** Add File: {tool.value}\n+scripted\n*** End Patch"}
        named = {"filePath": tool.value, "path": tool.value, "file_path": tool.value}
        return name, {**named, "content": "scripted\n", "file_text": "scripted\n"}
    return tool.name, tool.arguments
