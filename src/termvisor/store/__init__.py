"""What is kept: panes, their output and events, in one SQLite file."""

from termvisor.store.store import Store
from termvisor.store.tables.panes import StoredPane
from termvisor.store.tables.pipeline_commit import CommitResult, EpochUpdate

__all__ = ["CommitResult", "EpochUpdate", "Store", "StoredPane"]
