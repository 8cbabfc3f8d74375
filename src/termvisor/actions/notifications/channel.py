"""A way to tell people something: what it is given, and what it answers."""

from typing import Literal, Protocol

from msgspec import Struct

from termvisor.model.action.notification import NotificationSettings, UserNotification


class NotificationResult(Struct, frozen=True):
    """What came of it. ``why`` is a stable code; ``text`` is for a person and holds no secret."""

    status: Literal["done", "failed"]
    why: str = ""
    text: str = ""


class NotificationChannel(Protocol):
    """One way. It ends in bounded time and never raises for what the world does."""

    async def send(self, notice: UserNotification, settings: NotificationSettings) -> NotificationResult: ...


def build_program_result(program: str, status: int, errors: bytes) -> NotificationResult:
    """What the end of a program means; 127 and 124 are those of `spawn`: there is none, and it took too long."""
    if status == 0:
        return NotificationResult("done", text=f"{program} took it")
    said = errors.decode("utf-8", "replace").strip()[-200:]
    why = {127: "no_program", 124: "timeout"}.get(status, "program_failed")
    return NotificationResult("failed", why, f"{program} ended with status {status}" + (f": {said}" if said else ""))
