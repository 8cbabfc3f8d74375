"""Define how channels find the attached tmux clients and the panes they show."""

from typing import Protocol

from termvisor.backends.pane_control import AttachedClient
from termvisor.model.ids import PaneId


class NotificationRecipients(Protocol):
    async def list_clients(self) -> list[AttachedClient]:
        """Return the clients attached to the watched servers. Raises ``MuxError`` if no server answers."""

    async def list_viewers(self, pane: PaneId) -> list[AttachedClient]:
        """Return the clients that show this pane; none for a pane that is gone."""

    async def describe_pane(self, pane: PaneId) -> str:
        """Return the pane's location for people; empty if it is gone."""
