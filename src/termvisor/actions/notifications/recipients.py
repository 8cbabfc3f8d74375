"""The people who may be told: where they are attached, and what they have before them."""

from typing import Protocol

from termvisor.backends.pane_control import Client
from termvisor.model.ids import PaneId


class Audience(Protocol):
    async def clients(self) -> list[Client]:
        """Everybody who is attached to a server that is watched; `MuxError` when no server answers."""

    async def viewers(self, pane: PaneId) -> list[Client]:
        """Those of them who have this pane before them; nobody looks at a pane that is gone."""

    async def place(self, pane: PaneId) -> str:
        """Where the pane is, for people; empty when it is gone."""
