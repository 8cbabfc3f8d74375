"""Screens that keep their colours and lose their secrets."""

import re
from collections.abc import Sequence

from termvisor.redaction import Memory, Redactor

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])|[\x0e\x0f]")


def without_escapes(row: str) -> str:
    return _ESCAPE.sub("", row).rstrip()


def safe_rows(rows: Sequence[str], above: Sequence[str] = (), secrets: Memory | None = None) -> list[str]:
    """Rows without secrets, also without the rest of one that begins in the rows above them, or that is known."""
    redactor = Redactor(memory=secrets)
    redactor.lines(above)
    return redactor.lines(rows)


def coloured(rows: Sequence[str], above: Sequence[str] = (), secrets: Memory | None = None) -> list[str]:
    """Rows with their colours; one that holds a secret is given without them, because escapes may stand within it."""
    plain = [without_escapes(row) for row in rows]
    safe = safe_rows(plain, [without_escapes(row) for row in above], secrets)
    return [row if one == other else other for row, one, other in zip(rows, plain, safe, strict=True)]
