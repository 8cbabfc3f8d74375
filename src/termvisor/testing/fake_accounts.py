"""A fake account service for tests of operations."""

from collections.abc import Sequence

from msgspec.structs import replace

from termvisor.clock import NS, Clock
from termvisor.errors import NotFound
from termvisor.model.agent.account import Account, AccountCandidate, AccountChoice, AccountStatus, Allowance, Service


def add_sample_accounts(accounts: "FakeAccounts", now: int) -> None:
    """Add two accounts, one of them in use."""
    work = Account(service="openai", name="work", email="me@example.org", env_file="~/work.env")
    window = Allowance(span="5h", percent_remaining=80.0, resets_at=now + 3600 * NS, checked_at=now, source="signal")
    accounts.statuses += [
        AccountStatus(account=work, is_in_use=True, last_used_at=now, checked_at=now, allowances=(window,)),
        AccountStatus(account=Account(service="anthropic", name="second", config_dir="~/.claude-2")),
    ]


class FakeAccounts:
    """``refresh_problem`` is the answer of `refresh_usage`."""

    def __init__(self, clock: Clock):
        self._clock = clock
        self.statuses: list[AccountStatus] = []
        self.refresh_problem = ""

    async def list_statuses(self) -> Sequence[AccountStatus]:
        return self.statuses

    async def refresh_usage(self, service: Service | None = None) -> str:
        return self.refresh_problem

    async def use_account(self, ref: str) -> AccountStatus:
        for index, status in enumerate(self.statuses):
            if ref in (status.account.name, status.account.ref):
                self.statuses[index] = replace(status, is_in_use=True, last_used_at=self._clock.now())
                return self.statuses[index]
        raise NotFound(f"account {ref!r} not found")

    async def pick_account(self, service: Service) -> AccountChoice:
        accounts = [status.account for status in self.statuses if status.account.service == service]
        if not accounts:
            return AccountChoice(why=f"there is no account of {service}")
        chosen = AccountCandidate(ref=accounts[0].ref, verdict="chosen", why="80 % remaining", remaining=80.0)
        return AccountChoice(account=accounts[0], why=f"{accounts[0].ref}: 80 % remaining", candidates=(chosen,))
