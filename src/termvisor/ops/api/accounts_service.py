"""Interface of the account service that operations use."""

from collections.abc import Sequence
from typing import Protocol

from termvisor.model.agent.account import AccountChoice, AccountStatus, Service


class AccountService(Protocol):
    async def list_statuses(self) -> Sequence[AccountStatus]:
        """Return the status of every configured account, in the order of the settings."""

    async def refresh_usage(self, service: Service | None = None) -> str:
        """Query the usage tracker and return its error message, or "". Never raises; old data is kept on failure."""

    async def use_account(self, ref: str) -> AccountStatus:
        """Make an account the current one of its service. Raises NotFound."""

    async def pick_account(self, service: Service) -> AccountChoice:
        """Choose the best account of a service, by fresh usage data."""
