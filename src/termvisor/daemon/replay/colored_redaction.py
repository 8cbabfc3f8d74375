"""Screens that keep their colours and lose their secrets."""

import re
from collections.abc import Sequence

from termvisor.redaction import Redactor, SeenSecrets

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])|[\x0e\x0f]")


def strip_escapes(row: str) -> str:
    return _ESCAPE.sub("", row).rstrip()


def redact_rows(rows: Sequence[str], above: Sequence[str] = (), secrets: SeenSecrets | None = None) -> list[str]:
    """Rows without secrets, also without the rest of one that begins in the rows above them, or that is known."""
    redactor = Redactor(seen_secrets=secrets)
    redactor.redact_lines(above)
    return redactor.redact_lines(rows)


def redact_colored_rows(
    rows: Sequence[str], above: Sequence[str] = (), secrets: SeenSecrets | None = None
) -> list[str]:
    """Rows with their colours; one that holds a secret is given without them, because escapes may stand within it."""
    plain = [strip_escapes(row) for row in rows]
    safe = redact_rows(plain, [strip_escapes(row) for row in above], secrets)
    return [row if one == other else other for row, one, other in zip(rows, plain, safe, strict=True)]
