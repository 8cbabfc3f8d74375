"""The notification channels that write to a terminal or run a program, and text sanitizing for all channels.

The text may come from a program in a pane, so it is untrusted. Control characters are removed first, because they can
split a secret and hide it. Then secrets are redacted, and the text is truncated.

Terminals get a bell and a message (OSC 9). Invariants: only terminals of this user are written to; a terminal that does
not accept bytes never blocks; a message that was started is completed, because after half a message a terminal would
swallow its program's next output.
"""

import os
import re
import stat
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, Protocol

import msgspec
from msgspec import Struct

from termvisor.backends.pane_control import AttachedClient
from termvisor.clock import Clock
from termvisor.errors import MuxError
from termvisor.model.action.notification import UserNotification
from termvisor.model.ids import PaneId
from termvisor.model.settings.notifications import NotificationSettings
from termvisor.redaction import redact
from termvisor.system.subprocesses import run_isolated

MAX_TITLE_CHARS, MAX_TEXT_CHARS = 120, 1000
_ESCAPE_SEQUENCE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|[ -/]*[0-~])|\x9b[0-?]*[ -/]*[@-~]"
)
_MAX_MESSAGE_CHARS = 200
_BELL = b"\x07"
# One second in total to complete a message that was started, before giving up on a stopped terminal.
_MAX_WRITE_TRIES, _WRITE_RETRY_DELAY_S = 20, 0.05
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


class NotificationRecipients(Protocol):
    async def list_clients(self) -> list[AttachedClient]:
        """Return the clients attached to the watched servers. Raises ``MuxError`` if no server answers."""

    async def list_viewers(self, pane: PaneId) -> list[AttachedClient]:
        """Return the clients that show this pane; empty if the pane is gone."""

    async def describe_pane(self, pane: PaneId) -> str:
        """Return the pane's location in readable form; empty if the pane is gone."""


async def send_to_terminals(
    recipients: NotificationRecipients, clock: Clock, notice: UserNotification, settings: NotificationSettings
) -> NotificationResult:
    try:
        clients = {client.tty: client for client in await recipients.list_clients()}
    except MuxError as error:
        return NotificationResult("failed", "no_answer", error.message)
    if not clients:
        return NotificationResult("failed", "nobody_attached", "no client is attached to a watched tmux server")
    written = [
        await _write_to_terminal(tty, encode_notice(notice, settings, is_utf8=client.is_utf8), clock)
        for tty, client in clients.items()
    ]
    if not any(written):
        return NotificationResult("failed", "not_writable", "no attached terminal is yours and accepts a message now")
    return NotificationResult(
        "done", text=f"written to {sum(written)} of {len(written)} attached terminals; not every terminal shows it"
    )


async def _write_to_terminal(tty: str, data: bytes, clock: Clock) -> bool:
    """Write all bytes, retrying once the terminal has accepted some; return False if it accepts none."""
    descriptor = open_terminal(tty)
    if descriptor is None:
        return False
    try:
        rest = data[_write_some(descriptor, data) :]
        tries = _MAX_WRITE_TRIES if len(rest) < len(data) else 0
        while rest and tries:
            await clock.sleep(_WRITE_RETRY_DELAY_S)
            rest = rest[_write_some(descriptor, rest) :]
            tries -= 1
        return not rest
    except OSError:
        # The terminal was closed during the write, so skip it.
        return False
    finally:
        os.close(descriptor)


def open_terminal(tty: str) -> int | None:
    """Return a non-blocking file descriptor, or None if the path is not a terminal of this user."""
    try:
        # O_NONBLOCK: a terminal stopped with Ctrl-S must not block the daemon. O_NOCTTY: it must not become ours.
        descriptor = os.open(tty, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    # Check the open descriptor, because the path comes from tmux and may by now name another file.
    status = os.fstat(descriptor)
    if stat.S_ISCHR(status.st_mode) and status.st_uid == os.getuid() and os.isatty(descriptor):
        return descriptor
    os.close(descriptor)
    return None


def encode_notice(notice: UserNotification, settings: NotificationSettings, *, is_utf8: bool) -> bytes:
    """Return the escape sequences (bell, message, both or none) selected by the setting `notify_terminal`.

    The bell comes first, since it works on terminals without messages. The message begins with our name, because some
    terminals treat a leading digit and semicolon as a command. A terminal without UTF-8 gets only ASCII,
    because there a byte of an encoded character may be a control code.
    """
    text = sanitize_line(": ".join(filter(None, ("Termvisor", notice.title, notice.body))), _MAX_MESSAGE_CHARS)
    message = b"\x1b]9;" + text.encode("utf-8" if is_utf8 else "ascii", "replace") + _BELL
    return {"bell": _BELL, "message": message, "both": _BELL + message}[settings.notify_terminal]


def _write_some(descriptor: int, data: bytes) -> int:
    try:
        return os.write(descriptor, data)
    except BlockingIOError:
        return 0


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
