"""What a notice says: no control characters, no secrets, and no more than fits. Pure.

A text may come from a program in a pane, so it is hostile: controls go first, because they may stand within a secret
and hide it; then secrets; then it is cut.
"""

import re

from termvisor.redaction import redact

TITLE, TEXT = 120, 1000
"""Characters that are told."""
_SEQUENCE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|[ -/]*[0-~])|\x9b[0-?]*[ -/]*[@-~]"
)


def one_line(text: str, longest: int = TITLE) -> str:
    """White space of any kind is one blank."""
    return _cut(redact(" ".join(_printable(text).split())), longest)


def lines(text: str, longest: int = TEXT) -> str:
    """As it is laid out, each line clean."""
    return _cut(redact("\n".join(line.rstrip() for line in _printable(text).split("\n")).strip()), longest)


def _printable(text: str) -> str:
    bare = _SEQUENCE.sub("", text.replace("\r\n", "\n"))
    return "".join(sign if sign.isprintable() or sign == "\n" else " " if sign.isspace() else "" for sign in bare)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
