"""How to speak to Cursor: by its hooks before a command or a tool. Its keys are not known surely; none is pressed."""

import msgspec

from termvisor.agents.adapters.dialog_options import Decision

SUBMIT_KEYS = ("Enter",)
HOOK_EVENTS = ("beforeShellExecution", "beforeMCPExecution", "preToolUse")
"""The hooks that may answer for a person."""


def format_hook_answer(decision: Decision, message: str = "") -> str:
    """What such a hook prints; `{}` leaves it to the person at the terminal."""
    told: dict[str, str] = {"permission": decision}
    if decision == "deny" and message:
        told |= {"user_message": message, "agent_message": message}
    return msgspec.json.encode(told).decode()
