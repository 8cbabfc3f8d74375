"""Persistent storage of panes, output, events, actions and agent state in one SQLite file.

In: structs of `termvisor.model`. Out: the same structs, with ids. Read `store.py` first, then `tables/`.
"""

from termvisor.store.store import Store
from termvisor.store.tables.output import CommitResult, EpochUpdate
from termvisor.store.tables.panes import StoredPane

__all__ = ["CommitResult", "EpochUpdate", "Store", "StoredPane"]
