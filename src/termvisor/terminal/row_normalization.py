"""Normalize and hash screen rows so that rows that differ only in a counter, a spinner or spacing are equal. Pure.

Normalized text is only compared, never shown: runs of digits, spinner glyphs, white space and repeated signs
(rules, progress bars) each become one character.
"""

import re
from _blake2 import blake2b  # hashlib would load OpenSSL: four megabytes
from collections.abc import Callable

from termvisor.model.terminal.screen import ScreenLifetime

_SPINNER_GLYPHS = "◐◑◒◓◴◵◶◷◜◝◞◟◰◱◲◳◢◣◤◥✢✣✤✦✧✳✴✵✶✷✸✹✺✻✼✽✾❋·∙•●○◉◌◍◎⏺⬝■□▪▫▮▯∗*"
_BRAILLE = "\u2800-\u28ff"
_VARIABLE_TEXT = re.compile(
    rf"(?P<digits>\d+)|(?<!\S)[|/\\–-](?!\S)|[{re.escape(_SPINNER_GLYPHS)}{_BRAILLE}]+|(?P<sign>[^\w\s])(?P=sign)+"
)


def normalize_row(text: str) -> str:
    """Return the row in its comparable form; empty for a blank row."""
    return " ".join(_VARIABLE_TEXT.sub(_replace_variable_text, text).split())


def _replace_variable_text(match: re.Match[str]) -> str:
    return match["sign"] or ("0" if match["digits"] else "·")


def build_row_hasher(lifetime: ScreenLifetime) -> Callable[[str], int]:
    """Return a function that hashes normalized rows; the hashes differ between screen lifetimes."""
    salt = f"{lifetime.epoch} {lifetime.is_alternate:d} {lifetime.since}".encode()

    def hash_row(text: str) -> int:
        data = normalize_row(text).encode("utf-8", "replace")
        return int.from_bytes(blake2b(data, digest_size=8, key=salt).digest(), "little", signed=True)

    return hash_row
