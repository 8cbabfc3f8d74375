"""What rows of a repainting screen have in common when only a counter, a spinner or the spacing differs. Pure.

Folded text is for comparing only and is never shown: digits, glyphs that spin, white space and repeated signs (rules,
progress bars) each become one.
"""

import re
from _blake2 import blake2b  # hashlib would load OpenSSL, four megabytes of it
from collections.abc import Callable

from termvisor.model.terminal.screen_row import ScreenLifetime

_SPINNER_GLYPHS = "◐◑◒◓◴◵◶◷◜◝◞◟◰◱◲◳◢◣◤◥✢✣✤✦✧✳✴✵✶✷✸✹✺✻✼✽✾❋·∙•●○◉◌◍◎⏺⬝■□▪▫▮▯∗*"
_BRAILLE = "\u2800-\u28ff"
_VARIABLE_TEXT = re.compile(
    rf"(?P<digits>\d+)|(?<!\S)[|/\\–-](?!\S)|[{re.escape(_SPINNER_GLYPHS)}{_BRAILLE}]+|(?P<sign>[^\w\s])(?P=sign)+"
)


def normalize_row(text: str) -> str:
    """The row as it is compared; empty for a blank one."""
    return " ".join(_VARIABLE_TEXT.sub(_replace_variable_text, text).split())


def _replace_variable_text(found: re.Match[str]) -> str:
    return found["sign"] or ("0" if found["digits"] else "·")


def build_row_hasher(lifetime: ScreenLifetime) -> Callable[[str], int]:
    """Names rows within one life: the same number for rows that fold alike, another one in another life."""
    salt = f"{lifetime.epoch} {lifetime.is_alternate:d} {lifetime.since}".encode()

    def hash_row(text: str) -> int:
        data = normalize_row(text).encode("utf-8", "replace")
        return int.from_bytes(blake2b(data, digest_size=8, key=salt).digest(), "little", signed=True)

    return hash_row
