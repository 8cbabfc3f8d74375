"""Cursor keyboard: the hook output that answers permission requests. Its keys are not known well enough to send any."""

import msgspec

from termvisor.agents.adapters.keyboard import Decision


def format_hook_answer(decision: Decision, message: str = "") -> str:
    """Return the output of the hooks `beforeShellExecution`, `beforeMCPExecution` and `preToolUse`.

    `{}` would leave the answer to the dialog.
    """
    answer: dict[str, str] = {"permission": decision}
    if decision == "deny" and message:
        answer |= {"user_message": message, "agent_message": message}
    return msgspec.json.encode(answer).decode()
