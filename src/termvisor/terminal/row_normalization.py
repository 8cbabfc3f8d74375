"""What rows of a repainting screen have in common when only a counter, a spinner or the spacing differs. Pure.

Folded text is for comparing only and is never shown: digits, glyphs that spin, white space and repeated signs (rules,
progress bars) each become one.
"""

import re
from _blake2 import blake2b  # hashlib would load OpenSSL, four megabytes of it
from collections.abc import Callable

from termvisor.model.terminal.screen_row import Life

_SPINS = "◐◑◒◓◴◵◶◷◜◝◞◟◰◱◲◳◢◣◤◥✢✣✤✦✧✳✴✵✶✷✸✹✺✻✼✽✾❋·∙•●○◉◌◍◎⏺⬝■□▪▫▮▯∗*"
_BRAILLE = "\u2800-\u28ff"
_FOLDED = re.compile(
    rf"(?P<digits>\d+)|(?<!\S)[|/\\–-](?!\S)|[{re.escape(_SPINS)}{_BRAILLE}]+|(?P<sign>[^\w\s])(?P=sign)+"
)


def fold(text: str) -> str:
    """The row as it is compared; empty for a blank one."""
    return " ".join(_FOLDED.sub(_class, text).split())


def _class(found: re.Match[str]) -> str:
    return found["sign"] or ("0" if found["digits"] else "·")


def folds_of(life: Life) -> Callable[[str], int]:
    """Names rows within one life: the same number for rows that fold alike, another one in another life."""
    salt = f"{life.epoch} {life.is_alternate:d} {life.since}".encode()

    def number(text: str) -> int:
        data = fold(text).encode("utf-8", "replace")
        return int.from_bytes(blake2b(data, digest_size=8, key=salt).digest(), "little", signed=True)

    return number
