"""A kind of secret (`SecretKind`): how it is recognised and which part of it stays visible.

A provider kind has a fixed prefix and a run of characters, and is precise enough to be followed across wrapped rows.
A context kind has a pattern around the secret (``password=…``) and is matched only within one line.
"""

import re
from collections.abc import Callable
from functools import cache

from msgspec import Struct

from termvisor.redaction.value_checks import has_only_plain_words

FRAME_CHARS = "│┃║▌▐▏▕╎┆┊|"
"""Characters of the boxes that terminal programs draw."""
ROW_END_CHARS = FRAME_CHARS + " \t\r\\"
"""Characters that may follow the last character of a wrapped row."""
ROW_START_CHARS = FRAME_CHARS + " \t\r>"
"""Characters that may precede the first character of a wrapped row."""
INVISIBLE_CLASS = "[\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe0e\ufe0f\ufeff]"
"""Characters without a width: joiners, marks of direction, soft hyphens, variation selectors."""
ROW_END_CLASS = "[" + re.escape(ROW_END_CHARS) + "]"
ROW_START_CLASS = "[" + re.escape(ROW_START_CHARS) + "]"
NOT_AFTER_ALNUM = "(?<![A-Za-z0-9])"
# In raw bytes the last letter of an escape sequence may directly precede a secret.
_ESCAPE_SEQUENCE = r"\x1b\[[0-9;?]*[A-Za-z]"


def strip_invisible(text: str) -> str:
    """Return the text without characters of no width, which are copied with a secret but are no part of it."""
    return text if text.isascii() else _compile_pattern(INVISIBLE_CLASS).sub("", text)


class SecretKind(Struct, frozen=True, kw_only=True):
    """A kind of secret; ``min_length`` and ``max_length`` bound the run after the prefix (``max_length`` 0: unbounded).

    ``pattern`` has a group ``secret``, which is masked. ``probe`` is the engine's pattern, without look-around, which
    matches at least where ``pattern`` does. Both are derived for provider kinds. ``value_check`` decides in the end.
    """

    id: str
    doc: str
    prefixes: tuple[str, ...] = ()
    charset: str = ""
    min_length: int = 0
    max_length: int = 0
    pattern: str = ""
    probe: str = ""
    value_check: Callable[[re.Match[str]], bool] | None = None

    @property
    def regex(self) -> re.Pattern[str]:
        return _compile_pattern(self.pattern or self._build_run_pattern())

    @property
    def run_regex(self) -> re.Pattern[str]:
        return _compile_pattern(f"[{self.charset}]*")

    @property
    def characters(self) -> str:
        return _expand_charset(self.charset)

    @property
    def prefix_regex(self) -> re.Pattern[str]:
        return _compile_pattern(NOT_AFTER_ALNUM + _build_alternatives(self.prefixes))

    def build_engine_pattern(self) -> str:
        """Build the engine's pattern. A provider kind also matches if the end of the row cuts the run or the prefix."""
        if not self.charset:
            return self.probe
        run = f"[{self.charset}]"
        cut = tuple(prefix[:-1] for prefix in self.prefixes if len(prefix) > 2)
        at_row_end = f"{_build_alternatives(self.prefixes + cut)}{run}*{ROW_END_CLASS}*$"
        whole = f"{_build_alternatives(self.prefixes)}{run}{{8}}|{at_row_end}"
        own = f"|{self.probe}" if self.probe else ""
        return f"(?:^|[^A-Za-z0-9]|{_ESCAPE_SEQUENCE})(?:{whole}){own}"

    def is_secret(self, match: re.Match[str]) -> bool:
        return self.value_check(match) if self.value_check else not has_only_plain_words(match["secret"])

    def _build_run_pattern(self) -> str:
        end = f"(?![A-Za-z0-9{self.charset}])" if self.max_length else ""
        bounds = f"{{{self.min_length},{self.max_length or ''}}}"
        return f"{NOT_AFTER_ALNUM}{_build_alternatives(self.prefixes)}(?P<secret>[{self.charset}]{bounds}){end}"


def _build_alternatives(prefixes: tuple[str, ...]) -> str:
    longest_first = sorted(prefixes, key=len, reverse=True)
    return "(?:" + "|".join(re.escape(prefix) for prefix in longest_first) + ")"


@cache
def _expand_charset(charset: str) -> str:
    return "".join(re.findall(f"[{charset}]", "".join(map(chr, range(33, 127)))))


@cache
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)
