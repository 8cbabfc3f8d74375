"""Secrets in the bytes that paint a screen: learnt before something is painted over them.

Looks come now and then, so a key may be half covered in every one of them. The bytes have it whole.
"""

from termvisor.redaction.raw_bytes import shown_rows
from termvisor.redaction.redactor import Redactor, in_use
from termvisor.redaction.seen_secrets import Memory

_EDGE = 4096
"""How many of the last bytes are read again, in case a secret lies across."""


class Painted:
    """What is fed is looked at once, as rows; what is found there, the memory knows."""

    def __init__(self, memory: Memory):
        self._memory = memory
        self._tail = b""

    def feed(self, data: bytes) -> None:
        data = self._tail + data
        self._tail = data[-_EDGE:]
        rules = in_use()
        if any(kind in rules.kinds for kind in rules.matcher.ids(data)):
            rows = b"\n".join(filter(None, shown_rows(data))).decode("latin-1")
            Redactor(memory=self._memory).lines(rows.split("\n"))
