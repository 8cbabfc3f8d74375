"""The op `accounts_list`: the accounts that agents may work under, and what is left of each."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from termvisor.clock import iso
from termvisor.model.agent.account import Standing
from termvisor.ops.accounts._account_item import AccountItem, OneService, account_item, percent
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.panes._listing import Listing, counts, filters
from termvisor.ops.render.text import Column, Look, clean, counted, table


class ListAccounts(Struct, frozen=True, kw_only=True):
    """Which ones."""

    service: OneService = None


class AccountsSummary(Struct, frozen=True, kw_only=True):
    accounts: int
    by_service: dict[str, int]


class AccountListing(Listing, frozen=True, kw_only=True):
    """In the order of the config file."""

    summary: AccountsSummary
    items: tuple[AccountItem, ...]


async def run(world: World, wanted: ListAccounts) -> AccountListing:
    known = await world.accounts.standings()
    chosen = [one for one in known if wanted.service in (None, one.account.service)]
    return replace(listed(world, chosen), filters=filters(service=wanted.service))


def listed(world: World, standings: Sequence[Standing]) -> AccountListing:
    now = world.clock.now()
    items = tuple(account_item(one, now) for one in standings)
    summary = AccountsSummary(accounts=len(items), by_service=counts(item.service for item in items))
    return AccountListing(generated_at=iso(now), summary=summary, items=items)


COLUMNS = (
    Column("SERVICE", lambda item: item.service),
    Column("ACCOUNT", lambda item: clean(item.name), style="cyan"),
    Column("LEFT", lambda item: percent(item.percent_remaining), style="bold"),
    Column("RESETS", lambda item: item.resets_at or "-"),
    Column("STATE", lambda item: "in use" if item.in_use else "active" if item.active else "not active"),
    Column("CREDENTIALS", lambda item: clean(item.credentials), may_shrink=True),
)


def plain(listing: AccountListing, look: Look) -> str:
    if not listing.items:
        of = f" of {listing.filters['service']}" if listing.filters else ""
        return f"There are no accounts{of}. `[[accounts]]` in config.toml declares one."
    rows = table(COLUMNS, listing.items, look)
    return rows if look.is_quiet else f"{rows}\n\n{counted(listing.summary.accounts, 'account')}"


OP = Op(
    name="accounts_list",
    aliases=("accounts",),
    summary="The accounts that agents may work under, and what is left of each.",
    doc="""Accounts are declared in `config.toml`, in tables `[[accounts]]`; how each logs in is a reference that is
never followed here. What is left is learned from what agents say of their limits, and from a usage tracker where one is
installed. `percent_remaining` is that of the scarcest limit now: null means that nobody knows.""",
    Input=ListAccounts,
    Output=AccountListing,
    run=run,
    plain=plain,
    examples=(
        Example("accounts list", "for people"),
        Example("robot accounts list --service openai", "those of one service, as JSON"),
    ),
)
