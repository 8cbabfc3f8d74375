"""What a notice says: no control characters, no secrets, and no more than fits. Pure.

A text may come from a program in a pane, so it is hostile: controls go first, because they may stand within a secret
and hide it; then secrets; then it is cut.
"""

import re

from termvisor.redaction import redact

MAX_TITLE_CHARS, MAX_TEXT_CHARS = 120, 1000
"""Characters that are told."""
_ESCAPE_SEQUENCE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|[ -/]*[0-~])|\x9b[0-?]*[ -/]*[@-~]"
)


def sanitize_line(text: str, max_chars: int = MAX_TITLE_CHARS) -> str:
    """White space of any kind is one blank."""
    return _truncate(redact(" ".join(_remove_controls(text).split())), max_chars)


def sanitize_text(text: str, max_chars: int = MAX_TEXT_CHARS) -> str:
    """As it is laid out, each line clean."""
    return _truncate(redact("\n".join(line.rstrip() for line in _remove_controls(text).split("\n")).strip()), max_chars)


def _remove_controls(text: str) -> str:
    bare = _ESCAPE_SEQUENCE.sub("", text.replace("\r\n", "\n"))
    return "".join(sign if sign.isprintable() or sign == "\n" else " " if sign.isspace() else "" for sign in bare)


def _truncate(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else f"{text[: max_chars - 1]}…"
