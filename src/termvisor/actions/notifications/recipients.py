"""The people who may be told: where they are attached, and what they have before them."""

from typing import Protocol

from termvisor.backends.pane_control import AttachedClient
from termvisor.model.ids import PaneId


class NotificationRecipients(Protocol):
    async def list_clients(self) -> list[AttachedClient]:
        """Everybody who is attached to a server that is watched; `MuxError` when no server answers."""

    async def list_viewers(self, pane: PaneId) -> list[AttachedClient]:
        """Those of them who have this pane before them; nobody looks at a pane that is gone."""

    async def describe_pane(self, pane: PaneId) -> str:
        """Where the pane is, for people; empty when it is gone."""
