"""The notification channel interface, text sanitizing, and the channels that run a program.

The text may come from a program in a pane, so it is untrusted. Control characters are removed first, because they can
split a secret and hide it. Then secrets are redacted, and the text is truncated.
"""

import os
import re
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from termvisor.model.action.notification import UserNotification
from termvisor.model.settings.notifications import NotificationSettings
from termvisor.redaction import redact
from termvisor.system.subprocesses import run_isolated

MAX_TITLE_CHARS, MAX_TEXT_CHARS = 120, 1000
_ESCAPE_SEQUENCE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|[ -/]*[0-~])|\x9b[0-?]*[ -/]*[@-~]"
)
_APPLESCRIPT = (
    "on run argv",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "end run",
)


class NotificationResult(Struct, frozen=True):
    """``why`` is a stable code; ``text`` is human-readable."""

    status: Literal["done", "failed"]
    why: str = ""
    text: str = ""


NotificationChannel = Callable[[UserNotification, NotificationSettings], Awaitable[NotificationResult]]
"""Sends a notification within a bounded time; failures are reported in the result instead of raised."""


async def send_to_command(notice: UserNotification, settings: NotificationSettings) -> NotificationResult:
    """Run the user's program with the notification as one JSON object on stdin."""
    words = settings.notify_command
    data = msgspec.json.encode(notice) + b"\n"
    status, _, errors = await run_isolated(words, stdin=data, timeout_s=settings.notify_timeout)
    return build_program_result(os.path.basename(words[0]), status, errors)


async def send_to_desktop(notice: UserNotification, settings: NotificationSettings) -> NotificationResult:
    command = build_argv(notice, sys.platform)
    status, _, errors = await run_isolated(command, timeout_s=settings.notify_timeout)
    return build_program_result(command[0], status, errors)


def build_argv(notice: UserNotification, platform: str) -> Sequence[str]:
    """Return the desktop notification command: `notify-send` on Linux, `osascript` on macOS (untested)."""
    # `--` keeps both programs from parsing a title or body as an option.
    if platform == "darwin":
        script = [word for line in _APPLESCRIPT for word in ("-e", line)]
        return ["osascript", *script, "--", notice.title, notice.body]
    # The body of a desktop notification is markup, its title is plain text.
    body = notice.body.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return ["notify-send", "--app-name=Termvisor", "--", notice.title, body]


def build_program_result(program: str, status: int, errors: bytes) -> NotificationResult:
    """Build the result from a program's exit status; `run_isolated` returns 127 for not found, 124 for a timeout."""
    if status == 0:
        return NotificationResult("done", text=f"{program} accepted it")
    detail = errors.decode("utf-8", "replace").strip()[-200:]
    why = {127: "no_program", 124: "timeout"}.get(status, "program_failed")
    text = f"{program} exited with status {status}" + (f": {detail}" if detail else "")
    return NotificationResult("failed", why, text)


def sanitize_line(text: str, max_chars: int = MAX_TITLE_CHARS) -> str:
    """Return the sanitized text as one line, with each run of white space reduced to a space."""
    return _truncate(redact(" ".join(_remove_controls(text).split())), max_chars)


def sanitize_text(text: str, max_chars: int = MAX_TEXT_CHARS) -> str:
    """Return the sanitized text, keeping its line breaks."""
    return _truncate(redact("\n".join(line.rstrip() for line in _remove_controls(text).split("\n")).strip()), max_chars)


def _remove_controls(text: str) -> str:
    plain = _ESCAPE_SEQUENCE.sub("", text.replace("\r\n", "\n"))
    return "".join(char if char.isprintable() or char == "\n" else " " if char.isspace() else "" for char in plain)


def _truncate(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else f"{text[: max_chars - 1]}…"
