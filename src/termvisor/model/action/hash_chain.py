"""How the record vouches for itself: every entry is bound to the one before it by a hash. Pure.

Whoever has the links can prove them, from the database or from a file, with no more than this page.
"""

from _blake2 import blake2b  # hashlib would load OpenSSL, four megabytes of it

from msgspec import Struct

from termvisor.model.action.audit import BrokenChain


class Link(Struct, frozen=True, kw_only=True):
    """An entry as it is kept, to the byte, with the hash of the one before it and its own."""

    id: int
    previous: str
    hash: str
    entry: str


class Chain:
    """Takes links in their order. ``last`` and ``hash`` are of the newest one that fits."""

    def __init__(self, kept: str = "") -> None:
        self.last, self.hash = 0, ""
        self._kept, self._has_kept = kept, not kept

    def wrong(self, link: Link, *, is_masked: bool = False) -> BrokenChain | None:
        """What is wrong with the next link. The content of a masked one cannot be proven, its place can."""
        if link.id != self.last + 1 or link.previous != self.hash:
            return BrokenChain(link.id, f"it does not follow entry {self.last}")
        if not is_masked and link.hash != hash_of(link.previous, link.entry):
            return BrokenChain(link.id, "its content was changed")
        self.last, self.hash = link.id, link.hash
        self._has_kept |= link.hash == self._kept
        return None

    def wrong_at_end(self) -> BrokenChain | None:
        """A hash that somebody kept elsewhere must be in it: who computes all hashes anew cannot give it back."""
        return None if self._has_kept else BrokenChain(self.last, "no entry up to it has the hash that was kept")


def hash_of(previous: str, entry: str) -> str:
    return blake2b(f"{previous}\n{entry}".encode(), digest_size=32).hexdigest()
