"""Accounts, as operations see them."""

from collections.abc import Sequence
from typing import Protocol

from termvisor.model.agent.account import AccountChoice, AccountStatus, Service


class AccountService(Protocol):
    async def list_statuses(self) -> Sequence[AccountStatus]:
        """Those that are declared, in their order."""

    async def refresh_usage(self, service: Service | None = None) -> str:
        """Ask the tracker; why it told nothing, or nothing. Raises nothing: what is known stays."""

    async def use_account(self, ref: str) -> AccountStatus:
        """From now on agents of its service count as working under it. Raises ``NotFound``."""

    async def pick_account(self, service: Service) -> AccountChoice:
        """The one to use now, by fresh data."""
