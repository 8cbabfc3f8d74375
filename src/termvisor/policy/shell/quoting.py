"""Decode backslash escapes inside quotes as bash does."""

import re

_CONTROL_CHARS = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ANSI_ESCAPE = re.compile(
    r"\\(?:x(?P<hex>[0-9a-fA-F]{1,2})|u(?P<short>[0-9a-fA-F]{1,4})|U(?P<long>[0-9a-fA-F]{1,8})"
    r"|(?P<octal>[0-7]{1,3})|c(?P<control>.)|(?P<plain>.))",
    re.DOTALL,
)
_DOUBLE_QUOTED_ESCAPE = re.compile(r"\\([\\$`\"\n])")


def decode_ansi_c(text: str) -> str:
    """Decode the inside of `$'…'`."""
    return _ANSI_ESCAPE.sub(_decode_escape, text)


def decode_double_quoted(text: str) -> str:
    """Decode the inside of `"…"`: a backslash only escapes `$`, a backquote, `"`, itself and a newline."""
    return _DOUBLE_QUOTED_ESCAPE.sub(lambda match: match[1].replace("\n", ""), text)


def _decode_escape(match: re.Match[str]) -> str:
    if match["plain"]:
        return _CONTROL_CHARS.get(match["plain"], match["plain"])
    if match["control"]:
        return chr(ord(match["control"]) & 0x1F)
    if match["octal"]:
        return _decode_character(int(match["octal"], 8) & 0xFF)
    return _decode_character(int(match["hex"] or match["short"] or match["long"], 16))


def _decode_character(number: int) -> str:
    # U+E000 to U+E00F, after the surrogates, are the characters that word.py uses as masks.
    is_text = 0 < number < 0x110000 and not 0xD800 <= number <= 0xE00F
    return chr(number) if is_text else "\ufffd"
