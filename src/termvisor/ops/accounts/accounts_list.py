"""The operation `accounts_list`: list agent accounts and their remaining usage."""

from msgspec import Struct
from msgspec.structs import replace

from termvisor.clock import format_timestamp
from termvisor.model.agent.account import Service
from termvisor.ops.accounts._account_item import AccountItem, ServiceFilter, build_account_item, format_percent
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.results import BaseListing, build_filters, count_values
from termvisor.ops.render.table import TableColumn, render_table
from termvisor.ops.render.text import RenderOptions, pluralize, sanitize


class AccountsListArgs(Struct, frozen=True, kw_only=True):
    """Choose the accounts."""

    service: ServiceFilter = None


class AccountsSummary(Struct, frozen=True, kw_only=True):
    accounts: int
    by_service: dict[str, int]


class AccountListing(BaseListing, frozen=True, kw_only=True):
    """Accounts, in the order of the config file."""

    summary: AccountsSummary
    items: tuple[AccountItem, ...]


async def run(services: Services, args: AccountsListArgs) -> AccountListing:
    return replace(await build_account_listing(services, args.service), filters=build_filters(service=args.service))


async def build_account_listing(services: Services, service: Service | None) -> AccountListing:
    """List the accounts of the given service, or all accounts."""
    now, statuses = services.clock.now(), await services.accounts.list_statuses()
    items = tuple(build_account_item(status, now) for status in statuses if service in (None, status.account.service))
    summary = AccountsSummary(accounts=len(items), by_service=count_values(item.service for item in items))
    return AccountListing(generated_at=format_timestamp(now), summary=summary, items=items)


COLUMNS = (
    TableColumn("SERVICE", lambda item: item.service),
    TableColumn("ACCOUNT", lambda item: sanitize(item.name), style="cyan"),
    TableColumn("LEFT", lambda item: format_percent(item.percent_remaining), style="bold"),
    TableColumn("RESETS", lambda item: item.resets_at or "-", worth=5, kind="time"),
    TableColumn("STATE", lambda item: "in use" if item.in_use else "active" if item.active else "inactive"),
    TableColumn("CREDENTIALS", lambda item: sanitize(item.credentials), can_shrink=True, worth=2),
)


def render_text(result: AccountListing, options: RenderOptions) -> str:
    if not result.items:
        service = f" of {result.filters['service']}" if result.filters else ""
        return f"No accounts{service}. Declare one in config.toml with `[[accounts]]`."
    rows = render_table(COLUMNS, result.items, options)
    return rows if options.is_quiet else f"{rows}\n\n{pluralize(result.summary.accounts, 'account')}"


OP = Operation(
    name="accounts_list",
    aliases=("accounts",),
    summary="List agent accounts and their remaining usage.",
    doc="""Accounts are declared in `config.toml`, in `[[accounts]]` tables; credentials are references that are not
read here. Remaining usage comes from the limits that agents report, and from a usage tracker if one is installed.
`percent_remaining` is that of the limit with the least left; null if unknown.""",
    run=run,
    render_text=render_text,
    examples=(
        OperationExample("accounts list", "as a table"),
        OperationExample("robot accounts list --service openai", "accounts of one service, as JSON"),
    ),
)
