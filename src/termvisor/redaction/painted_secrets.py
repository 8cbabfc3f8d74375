"""Secrets in the bytes that paint a screen: learnt before something is painted over them.

Looks come now and then, so a key may be half covered in every one of them. The bytes have it whole.
"""

from termvisor.redaction.raw_bytes import extract_rows
from termvisor.redaction.redactor import Redactor, get_active_rules
from termvisor.redaction.seen_secrets import SeenSecrets

_OVERLAP_BYTES = 4096
"""How many of the last bytes are read again, in case a secret lies across."""


class PaintedSecretLearner:
    """What is fed is looked at once, as rows; what is found there, the memory knows."""

    def __init__(self, seen_secrets: SeenSecrets):
        self._seen_secrets = seen_secrets
        self._overlap = b""

    def feed(self, data: bytes) -> None:
        data = self._overlap + data
        self._overlap = data[-_OVERLAP_BYTES:]
        rules = get_active_rules()
        if any(kind in rules.kinds for kind in rules.matcher.find_ids(data)):
            rows = b"\n".join(filter(None, extract_rows(data))).decode("latin-1")
            Redactor(seen_secrets=self._seen_secrets).redact_lines(rows.split("\n"))
