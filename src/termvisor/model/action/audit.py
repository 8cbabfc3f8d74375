"""The audit log: who requested an action, the decision, the outcome, and the hash chain over the entries.

Every entry contains the hash of the previous entry. Entries can be verified from the database or from an exported file
with this module alone.
"""

from _blake2 import blake2b  # importing hashlib would load OpenSSL, which costs 4 MB of memory
from typing import Literal

from msgspec import Struct

from termvisor.model.action.action import Actor
from termvisor.model.action.approval import ApprovalAnswer, Verdict
from termvisor.model.action.outcome import OutcomeStatus
from termvisor.model.event import Scalar
from termvisor.model.ids import PaneId

AuditStage = Literal["judged", "asked", "answered", "intent", "outcome"]

AuditOutcome = Literal[OutcomeStatus, "denied", "refused", "modified", ApprovalAnswer]
"""Outcome of an action, the answer to an approval request, or `modified` for a request that a hook changed."""


class AuditEntry(Struct, frozen=True, kw_only=True):
    """``action`` is redacted; ``action_hash`` covers the original. ``hash`` covers this and all earlier entries."""

    id: int = 0
    at: int
    correlation: str
    stage: AuditStage
    kind: str
    actor: Actor
    pane: PaneId | None = None
    place: str = ""
    action: dict[str, object] = {}
    action_hash: str = ""
    verdict: Verdict | None = None
    observed: dict[str, Scalar] = {}
    outcome: str = ""
    why: str = ""
    undoes: str = ""
    """The correlation of the action that this one undoes."""
    previous: str = ""
    hash: str = ""


class AuditFilter(Struct, frozen=True, kw_only=True):
    """Filter for entries. ``actor`` is a caller's kind, name or interface, ``undoes`` the id of an undone action,
    ``cause`` the correlation of an action, run or event: also the entries of everything that followed from it.
    """

    pane: PaneId | None = None
    kind: str | None = None
    actor: str | None = None
    outcome: str | None = None
    correlation: str | None = None
    cause: str | None = None
    undoes: str | None = None
    since: int | None = None
    until: int | None = None


class ChainBreak(Struct, frozen=True):
    """The first entry that does not match the previous entries, and why."""

    id: int
    what: str


class HashChainEntry(Struct, frozen=True, kw_only=True):
    """The exact stored bytes of an entry, with the previous hash and its own hash."""

    id: int
    previous: str
    hash: str
    entry: str


class HashChainVerifier:
    """Verifies entries in order. ``last_id`` and ``last_hash`` belong to the last valid entry."""

    def __init__(self, expected_hash: str = "") -> None:
        self.last_id, self.last_hash = 0, ""
        self._expected_hash, self._has_expected_hash = expected_hash, not expected_hash

    def check_entry(self, entry: HashChainEntry, *, is_redacted: bool = False) -> ChainBreak | None:
        """Return a break if the next entry is invalid. For a redacted entry, verify only its place in the chain."""
        if entry.id != self.last_id + 1 or entry.previous != self.last_hash:
            return ChainBreak(entry.id, f"it does not follow entry {self.last_id}")
        if not is_redacted and entry.hash != hash_entry(entry.previous, entry.entry):
            return ChainBreak(entry.id, "its content was changed")
        self.last_id, self.last_hash = entry.id, entry.hash
        self._has_expected_hash |= entry.hash == self._expected_hash
        return None

    def check_end(self) -> ChainBreak | None:
        """Return a break if no entry had the expected hash, because the whole chain may have been recomputed."""
        if self._has_expected_hash:
            return None
        return ChainBreak(self.last_id, "no entry up to it has the expected hash")


def hash_entry(previous: str, entry: str) -> str:
    return blake2b(f"{previous}\n{entry}".encode(), digest_size=32).hexdigest()
