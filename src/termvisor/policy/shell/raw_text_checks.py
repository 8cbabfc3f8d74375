"""Check the raw text of a command line before it is parsed: invisible characters and history expansion."""

import re

from termvisor.policy.shell.word import RESERVED_CHARS

_HIDDEN_CHARS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_HISTORY_EVENT = re.compile(r"!(?=[^\s=(\"'])")


def has_hidden_text(text: str) -> bool:
    """Return True for control characters, marks that reorder or join text, and text that cannot be encoded."""
    return bool(_HIDDEN_CHARS.search(text) or RESERVED_CHARS.search(text))


def replace_control_chars(text: str) -> str:
    """Return the text to parse, of the same length: a control character ends a line, as Ctrl-C or Enter would."""
    text = re.sub("[\x00-\x08\x0b-\x1f\x7f]", "\n", text)
    return RESERVED_CHARS.sub("\ufffd", re.sub("[\ud800-\udfff]", "\ufffd", text))


def has_history_expansion(text: str) -> bool:
    """Return True for `!!`, `!rm` and `^old^new` outside single quotes, which an interactive shell expands."""
    if any(line.lstrip().startswith("^") for line in text.split("\n")):
        return True
    for match in _HISTORY_EVENT.finditer(text):
        before = text[: match.start()]
        is_pattern = before.endswith(("[", "$", "{", "\\"))
        if not is_pattern and not _is_single_quoted(before):
            return True
    return False


def _is_single_quoted(before: str) -> bool:
    """Return True if a single quote is open at the end; one after a backslash or in double quotes does not count."""
    quote = ""
    is_escaped = False
    for char in before:
        if is_escaped:
            is_escaped = False
        elif char == "\\" and quote != "'":
            is_escaped = True
        elif char in "\"'" and quote in ("", char):
            quote = "" if quote else char
    return quote == "'"
