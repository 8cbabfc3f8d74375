"""The contract of a source reader (`SourceReader`) and the result of one scan."""

from collections.abc import Collection, Sequence
from typing import Protocol

from msgspec import Struct

from termvisor.agents.adapters.adapter import SourceRecord

RESCAN_DELAY_S = 0.02
"""Delay before a source that is being written is scanned again."""


class SourceScanResult(Struct, kw_only=True):
    """The records of one scan, and where and when to look for the next change."""

    records: list[SourceRecord]
    folders: Sequence[str] = ()
    """The folders to watch with inotify."""
    awaited_folder: str = ""
    """The existing folder in which the missing watched folder will appear; empty if the watched folder exists."""
    rescan_after_s: float | None = None
    """Scan again after this delay even without an inotify event."""
    is_full_scan: bool = True
    """Everything was scanned, so ``folders`` is complete."""
    dropped: int = 0
    detail: str = ""
    """A problem to show to the user."""


class SourceReader(Protocol):
    """Reads one source. Scans run in a thread, one at a time."""

    source: str
    where: str

    def is_relevant_path(self, path: str) -> bool:
        """Return True if a change at this path requires a scan. Called on the event loop, also during a scan."""

    def scan(self, changed_paths: Collection[str] | None) -> SourceScanResult:
        """Read what changed at these paths, or everywhere if None."""

    def confirm_stored(self) -> None:
        """Note that the records of the last scan are stored."""
