"""What is kept: panes, their output and events, in one SQLite file."""

from termvisor.store.commit import Progress, Stored
from termvisor.store.panes import StoredPane
from termvisor.store.store import Store

__all__ = ["Progress", "Store", "Stored", "StoredPane"]
