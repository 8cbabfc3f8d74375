"""Notifications to the user, and pending notifications about events."""

from msgspec import Struct

from termvisor.model.action.action import Notify
from termvisor.model.ids import PaneId


class UserNotification(Struct, frozen=True, kw_only=True):
    """``id`` is the same in every delivery attempt; ``correlation`` links to the audit log; ``place`` describes the
    pane."""

    id: str
    correlation: str = ""
    at: str
    title: str
    text: str = ""
    pane: PaneId | None = None
    place: str = ""
    held_back: int = 0
    """Number of notifications held back on this channel since the last delivered one."""

    @property
    def body(self) -> str:
        """All parts except the title, one per line."""
        more = f"({self.held_back} more held back)" if self.held_back else ""
        return "\n".join(filter(None, (self.text, self.place, more)))


class PendingNotification(Struct, frozen=True, kw_only=True):
    """A notification about an event, not delivered yet. ``key`` is unique and the same in every attempt; ``at`` is
    the time of the event."""

    id: int = 0
    key: str
    at: int
    action: Notify
    tries: int = 0

    @property
    def summarized_count(self) -> int:
        """Number of notifications that this one summarizes; 0 if it is about a single event."""
        return int(self.key.split(".")[2]) if self.key.startswith("events.") else 0
