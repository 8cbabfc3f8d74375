"""Redact secrets in screen rows, with or without colour escapes."""

import re
from collections.abc import Sequence

from termvisor.redaction import Redactor, SeenSecrets

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])|[\x0e\x0f]")


def strip_escapes(row: str) -> str:
    return _ESCAPE.sub("", row).rstrip()


def redact_rows(rows: Sequence[str], above: Sequence[str] = (), secrets: SeenSecrets | None = None) -> list[str]:
    """Redact rows, also the rest of a secret that begins in the rows above, and secrets seen before."""
    redactor = Redactor(seen_secrets=secrets)
    redactor.redact_lines(above)
    return redactor.redact_lines(rows)


def redact_colored_rows(
    rows: Sequence[str], above: Sequence[str] = (), secrets: SeenSecrets | None = None
) -> list[str]:
    """Redact rows and keep their colours; a row with a secret loses them, because escapes may be inside the secret."""
    plain_rows = [strip_escapes(row) for row in rows]
    redacted = redact_rows(plain_rows, [strip_escapes(row) for row in above], secrets)
    return [row if plain == safe else safe for row, plain, safe in zip(rows, plain_rows, redacted, strict=True)]
