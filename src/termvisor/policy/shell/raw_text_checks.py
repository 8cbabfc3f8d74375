"""What can be told of a command line before it is parsed: characters that hide something, and the shell's history."""

import re

from termvisor.policy.shell.word import RESERVED_CHARS

_HIDDEN_CHARS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_HISTORY_EVENT = re.compile(r"!(?=[^\s=(\"'])")


def has_hidden_text(text: str) -> bool:
    """Control characters (which a terminal obeys), marks that reorder or join text, and what cannot be encoded."""
    return bool(_HIDDEN_CHARS.search(text) or RESERVED_CHARS.search(text))


def replace_control_chars(text: str) -> str:
    """The text to parse, of the same length: a control character ends a line, as Ctrl-C or Enter would."""
    text = re.sub("[\x00-\x08\x0b-\x1f\x7f]", "\n", text)
    return RESERVED_CHARS.sub("\ufffd", re.sub("[\ud800-\udfff]", "\ufffd", text))


def has_history_expansion(text: str) -> bool:
    """`!!`, `!rm`, `^old^new`: an interactive shell puts in what was typed before. Not within single quotes."""
    if any(line.lstrip().startswith("^") for line in text.split("\n")):
        return True
    for found in _HISTORY_EVENT.finditer(text):
        before = text[: found.start()]
        is_pattern = before.endswith(("[", "$", "{", "\\"))
        if not is_pattern and not _is_single_quoted(before):
            return True
    return False


def _is_single_quoted(before: str) -> bool:
    """Whether a single quote is open at the end; a backslash or double quotes take a quote its meaning."""
    quote = ""
    skip = False
    for sign in before:
        if skip:
            skip = False
        elif sign == "\\" and quote != "'":
            skip = True
        elif sign in "\"'" and quote in ("", sign):
            quote = "" if quote else sign
    return quote == "'"
