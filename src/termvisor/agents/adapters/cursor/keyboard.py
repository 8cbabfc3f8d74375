"""Cursor keyboard: the hook output that answers permission requests. Its keys are not known well enough to send any."""

import msgspec

from termvisor.agents.adapters.dialog_options import Decision

SUBMIT_KEYS = ("Enter",)
HOOK_EVENTS = ("beforeShellExecution", "beforeMCPExecution", "preToolUse")
"""The hooks that may answer instead of the user."""


def format_hook_answer(decision: Decision, message: str = "") -> str:
    """Return the output of such a hook. `{}` would leave the answer to the dialog."""
    answer: dict[str, str] = {"permission": decision}
    if decision == "deny" and message:
        answer |= {"user_message": message, "agent_message": message}
    return msgspec.json.encode(answer).decode()
