"""Backslashes inside quotes, as bash reads them."""

import re

_CONTROL_CHARS = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ANSI_ESCAPE = re.compile(
    r"\\(?:x(?P<hex>[0-9a-fA-F]{1,2})|u(?P<short>[0-9a-fA-F]{1,4})|U(?P<long>[0-9a-fA-F]{1,8})"
    r"|(?P<octal>[0-7]{1,3})|c(?P<control>.)|(?P<plain>.))",
    re.DOTALL,
)
_DOUBLE_QUOTED_ESCAPE = re.compile(r"\\([\\$`\"\n])")


def decode_ansi_c(text: str) -> str:
    """The inside of `$'…'`."""
    return _ANSI_ESCAPE.sub(_decode_escape, text)


def decode_double_quoted(text: str) -> str:
    """The inside of `"…"`: a backslash counts before `$`, a backquote, `"`, itself and a newline only."""
    return _DOUBLE_QUOTED_ESCAPE.sub(lambda found: found[1].replace("\n", ""), text)


def _decode_escape(found: re.Match[str]) -> str:
    if found["plain"]:
        return _CONTROL_CHARS.get(found["plain"], found["plain"])
    if found["control"]:
        return chr(ord(found["control"]) & 0x1F)
    if found["octal"]:
        return _decode_character(int(found["octal"], 8) & 0xFF)
    return _decode_character(int(found["hex"] or found["short"] or found["long"], 16))


def _decode_character(number: int) -> str:
    # behind the surrogates stand the signs that word.py masks with
    is_text = 0 < number < 0x110000 and not 0xD800 <= number <= 0xE00F
    return chr(number) if is_text else "\ufffd"
