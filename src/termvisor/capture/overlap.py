"""Where an old tail goes on in a new capture. It never invents: what it returns are rows of the capture, or nothing."""

from collections.abc import Sequence

_PROOF = 3
"""So many different lines with text must agree, at one place only."""
_DEPTH = 50


def recovered(tail: Sequence[str], rows: Sequence[str]) -> list[str] | None:
    """The rows that follow the tail's last line in the capture; None when it cannot be proven where that is."""
    places = [at for at in range(1, len(rows) + 1) if _agrees(tail, rows, at)]
    return list(rows[places[0] :]) if len(places) == 1 else None


def _agrees(tail: Sequence[str], rows: Sequence[str], at: int) -> bool:
    depth = min(len(tail), at, _DEPTH)
    pairs = [(tail[-back], rows[at - back]) for back in range(1, depth + 1)]
    return all(old == new for old, new in pairs) and len({old for old, _ in pairs if old.strip()}) >= _PROOF
