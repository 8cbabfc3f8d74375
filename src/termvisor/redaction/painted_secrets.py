"""Learn secrets from the bytes that paint a screen, before they are painted over.

Screens are sampled now and then, so a key may be partly covered in every sample. The bytes contain it whole.
"""

from termvisor.redaction.raw_bytes import extract_rows
from termvisor.redaction.redactor import Redactor, get_active_rules
from termvisor.redaction.seen_secrets import SeenSecrets

_OVERLAP_BYTES = 4096
"""The last bytes of a chunk are scanned again with the next one, in case a secret spans both."""


class PaintedSecretLearner:
    """Scans the rows in the fed bytes and adds their secrets to ``seen_secrets``."""

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
