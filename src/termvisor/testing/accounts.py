"""Accounts in memory, for tests of operations."""

from collections.abc import Sequence

from msgspec.structs import replace

from termvisor.clock import NS, Clock
from termvisor.errors import NotFound
from termvisor.model.agent.account import Account, Allowance, Judged, Pick, Service, Standing


def lived_in(accounts: "MemoryAccounts", now: int) -> None:
    """Two accounts, of which one is in use."""
    work = Account(service="openai", name="work", email="me@example.org", env_file="~/work.env")
    window = Allowance(span="5h", percent_remaining=80.0, resets_at=now + 3600 * NS, checked_at=now, source="signal")
    standing = Standing(account=work, is_in_use=True, last_used_at=now, checked_at=now, allowances=(window,))
    accounts.known += [
        standing,
        Standing(account=Account(service="anthropic", name="second", config_dir="~/.claude-2")),
    ]


class MemoryAccounts:
    """``known`` are the accounts; ``told`` is what the tracker says of itself."""

    def __init__(self, clock: Clock):
        self._clock = clock
        self.known: list[Standing] = []
        self.told = ""

    async def standings(self) -> Sequence[Standing]:
        return self.known

    async def refresh(self, service: Service | None = None) -> str:
        return self.told

    async def use(self, ref: str) -> Standing:
        for place, one in enumerate(self.known):
            if ref in (one.account.name, one.account.ref):
                self.known[place] = replace(one, is_in_use=True, last_used_at=self._clock.now())
                return self.known[place]
        raise NotFound(f"there is no account {ref!r}")

    async def pick(self, service: Service) -> Pick:
        fits = [one.account for one in self.known if one.account.service == service]
        if not fits:
            return Pick(why=f"there is no account of {service}")
        chosen = Judged(ref=fits[0].ref, verdict="chosen", why="80 % are left", remaining=80.0)
        return Pick(account=fits[0], why=f"{fits[0].ref}: 80 % are left", candidates=(chosen,))
