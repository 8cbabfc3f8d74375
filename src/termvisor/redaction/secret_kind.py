"""A Kind is one sort of secret: how it is recognised, and what of it may stay.

A provider kind is a fixed prefix and a run of characters; it is precise enough to be followed over wrapped rows.
A form kind is a pattern around the secret (``password=…``) and is only looked for within one line.
"""

import re
from collections.abc import Callable
from functools import cache

from msgspec import Struct

from termvisor.redaction.ordinary_words import is_plain

FRAME = "│┃║▌▐▏▕╎┆┊|"
"""What the boxes of terminal programs are drawn with."""
TAIL = FRAME + " \t\r\\"
"""What may stand between the last character of a wrapped row and its end."""
LEAD = FRAME + " \t\r>"
"""What may stand before the first character of a wrapped row."""

TAIL_CLASS = "[" + re.escape(TAIL) + "]"
LEAD_CLASS = "[" + re.escape(LEAD) + "]"
NOT_BEFORE = "(?<![A-Za-z0-9])"
_MOVED = r"\x1b\[[0-9;?]*[A-Za-z]"
"""In raw bytes the last letter of an escape sequence may stand right before a secret."""


class Kind(Struct, frozen=True, kw_only=True):
    """``low`` and ``high`` bound the run behind the prefix; ``high`` 0 means any length.

    ``pattern`` has a group ``secret``, which is what is masked; ``probe`` is a look-around-free pattern for the engine
    that matches at least where ``pattern`` does. Both are derived for provider kinds. ``judge`` has the last word.
    """

    id: str
    doc: str
    prefixes: tuple[str, ...] = ()
    charset: str = ""
    low: int = 0
    high: int = 0
    pattern: str = ""
    probe: str = ""
    judge: Callable[[re.Match[str]], bool] | None = None

    @property
    def regex(self) -> re.Pattern[str]:
        return _compiled(self.pattern or self._run_pattern())

    @property
    def run(self) -> re.Pattern[str]:
        return _compiled(f"[{self.charset}]*")

    @property
    def characters(self) -> str:
        return _members(self.charset)

    @property
    def any_prefix(self) -> re.Pattern[str]:
        return _compiled(NOT_BEFORE + _either(self.prefixes))

    def engine_pattern(self) -> str:
        """For a provider also where the end of the row cuts the run, or takes the last character of the prefix away."""
        if not self.charset:
            return self.probe
        run = f"[{self.charset}]"
        cut = tuple(prefix[:-1] for prefix in self.prefixes if len(prefix) > 2)
        whole = f"{_either(self.prefixes)}{run}{{8}}|{_either(self.prefixes + cut)}{run}*{TAIL_CLASS}*$"
        own = f"|{self.probe}" if self.probe else ""
        return f"(?:^|[^A-Za-z0-9]|{_MOVED})(?:{whole}){own}"

    def accepts(self, match: re.Match[str]) -> bool:
        return self.judge(match) if self.judge else not is_plain(match["secret"])

    def _run_pattern(self) -> str:
        end = f"(?![A-Za-z0-9{self.charset}])" if self.high else ""
        bounds = f"{{{self.low},{self.high or ''}}}"
        return f"{NOT_BEFORE}{_either(self.prefixes)}(?P<secret>[{self.charset}]{bounds}){end}"


def _either(prefixes: tuple[str, ...]) -> str:
    longest_first = sorted(prefixes, key=len, reverse=True)
    return "(?:" + "|".join(re.escape(prefix) for prefix in longest_first) + ")"


@cache
def _members(charset: str) -> str:
    return "".join(re.findall(f"[{charset}]", "".join(map(chr, range(33, 127)))))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)
