"""The op `accounts_list`: the accounts that agents may work under, and what is left of each."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from termvisor.clock import format_timestamp
from termvisor.model.agent.account import AccountStatus
from termvisor.ops.accounts._account_item import AccountItem, ServiceFilter, build_account_item, format_percent
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes._listing import BaseListing, build_filters, count_values
from termvisor.ops.render.text import RenderOptions, TableColumn, pluralize, render_table, sanitize


class AccountsListArgs(Struct, frozen=True, kw_only=True):
    """Which ones."""

    service: ServiceFilter = None


class AccountsSummary(Struct, frozen=True, kw_only=True):
    accounts: int
    by_service: dict[str, int]


class AccountListing(BaseListing, frozen=True, kw_only=True):
    """In the order of the config file."""

    summary: AccountsSummary
    items: tuple[AccountItem, ...]


async def run(services: Services, args: AccountsListArgs) -> AccountListing:
    known = await services.accounts.list_statuses()
    chosen = [one for one in known if args.service in (None, one.account.service)]
    return replace(build_account_listing(services, chosen), filters=build_filters(service=args.service))


def build_account_listing(services: Services, account_statuses: Sequence[AccountStatus]) -> AccountListing:
    now = services.clock.now()
    items = tuple(build_account_item(one, now) for one in account_statuses)
    summary = AccountsSummary(accounts=len(items), by_service=count_values(item.service for item in items))
    return AccountListing(generated_at=format_timestamp(now), summary=summary, items=items)


COLUMNS = (
    TableColumn("SERVICE", lambda item: item.service),
    TableColumn("ACCOUNT", lambda item: sanitize(item.name), style="cyan"),
    TableColumn("LEFT", lambda item: format_percent(item.percent_remaining), style="bold"),
    TableColumn("RESETS", lambda item: item.resets_at or "-"),
    TableColumn("STATE", lambda item: "in use" if item.in_use else "active" if item.active else "not active"),
    TableColumn("CREDENTIALS", lambda item: sanitize(item.credentials), can_shrink=True),
)


def render_text(result: AccountListing, options: RenderOptions) -> str:
    if not result.items:
        of = f" of {result.filters['service']}" if result.filters else ""
        return f"There are no accounts{of}. `[[accounts]]` in config.toml declares one."
    rows = render_table(COLUMNS, result.items, options)
    return rows if options.is_quiet else f"{rows}\n\n{pluralize(result.summary.accounts, 'account')}"


OP = Operation(
    name="accounts_list",
    aliases=("accounts",),
    summary="The accounts that agents may work under, and what is left of each.",
    doc="""Accounts are declared in `config.toml`, in tables `[[accounts]]`; how each logs in is a reference that is
never followed here. What is left is learned from what agents say of their limits, and from a usage tracker where one is
installed. `percent_remaining` is that of the scarcest limit now: null means that nobody knows.""",
    args_type=AccountsListArgs,
    result_type=AccountListing,
    run=run,
    render_text=render_text,
    examples=(
        OperationExample("accounts list", "for people"),
        OperationExample("robot accounts list --service openai", "those of one service, as JSON"),
    ),
)
