"""Where an old tail goes on in a new capture. It never invents: what it returns are rows of the capture, or nothing."""

from collections.abc import Sequence

_MIN_DISTINCT_LINES = 3
"""So many different lines with text must agree, at one place only."""
_MAX_COMPARED_LINES = 50


def find_rows_after_tail(tail: Sequence[str], rows: Sequence[str]) -> list[str] | None:
    """The rows that follow the tail's last line in the capture; None when it cannot be proven where that is."""
    places = [at for at in range(1, len(rows) + 1) if _is_tail_at(tail, rows, at)]
    return list(rows[places[0] :]) if len(places) == 1 else None


def _is_tail_at(tail: Sequence[str], rows: Sequence[str], end: int) -> bool:
    depth = min(len(tail), end, _MAX_COMPARED_LINES)
    pairs = [(tail[-back], rows[end - back]) for back in range(1, depth + 1)]
    return (
        all(old == new for old, new in pairs) and len({old for old, _ in pairs if old.strip()}) >= _MIN_DISTINCT_LINES
    )
