"""What every reader of agents' word has in common: it is told to look, and answers with what it found."""

from collections.abc import Collection, Sequence
from typing import Protocol

from msgspec import Struct

from termvisor.agents.adapters.adapter import SourceRecord

RESCAN_DELAY_S = 0.02
"""Seconds after which something that was being written is looked at again."""


class SourceScanResult(Struct, kw_only=True):
    """What one look found, and how the next change will show."""

    records: list[SourceRecord]
    folders: Sequence[str] = ()
    """Where it shows."""
    awaited_folder: str = ""
    """A folder in which the one that is watched will appear; empty where it is there."""
    rescan_after_s: float | None = None
    """Seconds after which to look again, even if nothing is heard."""
    is_full_scan: bool = True
    """All was looked at, so ``folders`` are all there are."""
    dropped: int = 0
    detail: str = ""
    """What a person should know of it."""


class SourceReader(Protocol):
    """Looks in a thread, one look at a time."""

    source: str
    where: str

    def is_relevant_path(self, path: str) -> bool:
        """Whether a change at this path is worth a look. Asked on the event loop, also during a look."""

    def scan(self, changed_paths: Collection[str] | None) -> SourceScanResult:
        """What changed at these paths; None: anywhere."""

    def confirm_stored(self) -> None:
        """The records of the last look are stored."""
