"""Compare what an agent shows, whatever its frames and spinners."""

import re
from collections.abc import Sequence


def trim_rows(rows: Sequence[str]) -> tuple[str, ...]:
    kept = list(rows)
    while kept and not kept[-1]:
        kept.pop()
    return tuple(kept)


def remove_moving_glyphs(text: str) -> str:
    """Remove what changes while an agent rests or works: digits and the glyphs of spinners."""
    return re.sub(r"[\d⠀-⣿·✢✳✶✻✽*∗○◎◉●⬝■]+", "", text)


def squeeze(text: str) -> str:
    """Remove spaces and frames, to compare wrapped text."""
    return re.sub(r"[\s┃│❯]+", "", text)
