"""Accounts in memory, for tests of operations."""

from collections.abc import Sequence

from msgspec.structs import replace

from termvisor.clock import NS, Clock
from termvisor.errors import NotFound
from termvisor.model.agent.account import Account, AccountCandidate, AccountChoice, AccountStatus, Allowance, Service


def add_sample_accounts(accounts: "FakeAccounts", now: int) -> None:
    """Two accounts, of which one is in use."""
    work = Account(service="openai", name="work", email="me@example.org", env_file="~/work.env")
    window = Allowance(span="5h", percent_remaining=80.0, resets_at=now + 3600 * NS, checked_at=now, source="signal")
    standing = AccountStatus(account=work, is_in_use=True, last_used_at=now, checked_at=now, allowances=(window,))
    accounts.statuses += [
        standing,
        AccountStatus(account=Account(service="anthropic", name="second", config_dir="~/.claude-2")),
    ]


class FakeAccounts:
    """``known`` are the accounts; ``told`` is what the tracker says of itself."""

    def __init__(self, clock: Clock):
        self._clock = clock
        self.statuses: list[AccountStatus] = []
        self.refresh_problem = ""

    async def list_statuses(self) -> Sequence[AccountStatus]:
        return self.statuses

    async def refresh_usage(self, service: Service | None = None) -> str:
        return self.refresh_problem

    async def use_account(self, ref: str) -> AccountStatus:
        for place, one in enumerate(self.statuses):
            if ref in (one.account.name, one.account.ref):
                self.statuses[place] = replace(one, is_in_use=True, last_used_at=self._clock.now())
                return self.statuses[place]
        raise NotFound(f"there is no account {ref!r}")

    async def pick_account(self, service: Service) -> AccountChoice:
        fits = [one.account for one in self.statuses if one.account.service == service]
        if not fits:
            return AccountChoice(why=f"there is no account of {service}")
        chosen = AccountCandidate(ref=fits[0].ref, verdict="chosen", why="80 % are left", remaining=80.0)
        return AccountChoice(account=fits[0], why=f"{fits[0].ref}: 80 % are left", candidates=(chosen,))
