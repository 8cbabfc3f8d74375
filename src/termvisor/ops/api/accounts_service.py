"""Accounts, as operations see them."""

from collections.abc import Sequence
from typing import Protocol

from termvisor.model.agent.account import Pick, Service, Standing


class Accounts(Protocol):
    async def standings(self) -> Sequence[Standing]:
        """Those that are declared, in their order."""

    async def refresh(self, service: Service | None = None) -> str:
        """Ask the tracker; why it told nothing, or nothing. Raises nothing: what is known stays."""

    async def use(self, ref: str) -> Standing:
        """From now on agents of its service count as working under it. Raises ``NotFound``."""

    async def pick(self, service: Service) -> Pick:
        """The one to use now, by fresh data."""
