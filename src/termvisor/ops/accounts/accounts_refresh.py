"""The operation `accounts_refresh`: query the usage tracker for the remaining usage of accounts."""

from msgspec import Struct

from termvisor.ops.accounts import accounts_list
from termvisor.ops.accounts._account_item import ServiceFilter
from termvisor.ops.accounts.accounts_list import AccountListing, build_account_listing
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.results import copy_fields
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.redaction import redact


class AccountsRefreshArgs(Struct, frozen=True, kw_only=True):
    """Choose the accounts."""

    service: ServiceFilter = None


class AccountsRefreshResult(AccountListing, frozen=True, kw_only=True):
    """``told`` is the reason if the tracker returned nothing; the accounts are then unchanged."""

    told: str = ""


async def run(services: Services, args: AccountsRefreshArgs) -> AccountsRefreshResult:
    problem = await services.accounts.refresh_usage(args.service)
    # Returned even if the tracker failed, because the earlier data is still useful.
    listing = await build_account_listing(services, args.service)
    return copy_fields(AccountsRefreshResult, listing, told=redact(problem))


def render_text(result: AccountsRefreshResult, options: RenderOptions) -> str:
    rows = accounts_list.render_text(result, options)
    warning = options.paint("yellow", sanitize(f"warning: not refreshed: {result.told}"))
    return f"{rows}\n{warning}" if result.told else rows


OP = Operation(
    name="accounts_refresh",
    summary="Query the usage tracker for the remaining usage of accounts.",
    doc="""Runs the program of the setting `account_tracker` (`caut`), if it is installed, for each service that has
accounts. If it is missing, fails or times out, `told` is the reason, and the usage that agents reported is kept.""",
    run=run,
    render_text=render_text,
    effect="change",
    examples=(
        OperationExample("accounts refresh", "all accounts"),
        OperationExample("robot accounts refresh --service anthropic", "accounts of one service, as JSON"),
    ),
)
