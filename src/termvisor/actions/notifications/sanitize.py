"""Remove control characters and secrets from the text of a notification, and cut it. Pure.

The text may come from a program in a pane, so it is untrusted. Control characters are removed first, because they may
split a secret and hide it; then secrets are redacted; then the text is cut.
"""

import re

from termvisor.redaction import redact

MAX_TITLE_CHARS, MAX_TEXT_CHARS = 120, 1000

_ESCAPE_SEQUENCE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|[ -/]*[0-~])|\x9b[0-?]*[ -/]*[@-~]"
)


def sanitize_line(text: str, max_chars: int = MAX_TITLE_CHARS) -> str:
    """Return the text as one line; any run of white space becomes one space."""
    return _truncate(redact(" ".join(_remove_controls(text).split())), max_chars)


def sanitize_text(text: str, max_chars: int = MAX_TEXT_CHARS) -> str:
    """Return the text with its line breaks."""
    return _truncate(redact("\n".join(line.rstrip() for line in _remove_controls(text).split("\n")).strip()), max_chars)


def _remove_controls(text: str) -> str:
    plain = _ESCAPE_SEQUENCE.sub("", text.replace("\r\n", "\n"))
    return "".join(char if char.isprintable() or char == "\n" else " " if char.isspace() else "" for char in plain)


def _truncate(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else f"{text[: max_chars - 1]}…"
