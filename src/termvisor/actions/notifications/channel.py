"""Define the interface of a notification channel and its result."""

from typing import Literal, Protocol

from msgspec import Struct

from termvisor.model.action.notification import UserNotification
from termvisor.model.settings.notifications import NotificationSettings


class NotificationResult(Struct, frozen=True):
    """``why`` is a stable code; ``text`` is for a person."""

    status: Literal["done", "failed"]
    why: str = ""
    text: str = ""


class NotificationChannel(Protocol):
    async def send(self, notice: UserNotification, settings: NotificationSettings) -> NotificationResult:
        """Send it within a bounded time; report failures in the result instead of raising."""


def build_program_result(program: str, status: int, errors: bytes) -> NotificationResult:
    """Build the result from a program's exit status; `run_isolated` returns 127 for not found, 124 for a timeout."""
    if status == 0:
        return NotificationResult("done", text=f"{program} accepted it")
    detail = errors.decode("utf-8", "replace").strip()[-200:]
    why = {127: "no_program", 124: "timeout"}.get(status, "program_failed")
    text = f"{program} exited with status {status}" + (f": {detail}" if detail else "")
    return NotificationResult("failed", why, text)
