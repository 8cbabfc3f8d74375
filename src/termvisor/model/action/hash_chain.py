"""How the record vouches for itself: every entry is bound to the one before it by a hash. Pure.

Whoever has the links can prove them, from the database or from a file, with no more than this page.
"""

from _blake2 import blake2b  # hashlib would load OpenSSL, four megabytes of it

from msgspec import Struct

from termvisor.model.action.audit import ChainBreak


class HashChainEntry(Struct, frozen=True, kw_only=True):
    """An entry as it is kept, to the byte, with the hash of the one before it and its own."""

    id: int
    previous: str
    hash: str
    entry: str


class HashChainVerifier:
    """Takes links in their order. ``last`` and ``hash`` are of the newest one that fits."""

    def __init__(self, expected_hash: str = "") -> None:
        self.last_id, self.last_hash = 0, ""
        self._expected_hash, self._has_expected_hash = expected_hash, not expected_hash

    def check_entry(self, entry: HashChainEntry, *, is_redacted: bool = False) -> ChainBreak | None:
        """What is wrong with the next link. The content of a masked one cannot be proven, its place can."""
        if entry.id != self.last_id + 1 or entry.previous != self.last_hash:
            return ChainBreak(entry.id, f"it does not follow entry {self.last_id}")
        if not is_redacted and entry.hash != hash_entry(entry.previous, entry.entry):
            return ChainBreak(entry.id, "its content was changed")
        self.last_id, self.last_hash = entry.id, entry.hash
        self._has_expected_hash |= entry.hash == self._expected_hash
        return None

    def check_end(self) -> ChainBreak | None:
        """A hash that somebody kept elsewhere must be in it: who computes all hashes anew cannot give it back."""
        return (
            None
            if self._has_expected_hash
            else ChainBreak(self.last_id, "no entry up to it has the hash that was kept")
        )


def hash_entry(previous: str, entry: str) -> str:
    return blake2b(f"{previous}\n{entry}".encode(), digest_size=32).hexdigest()
