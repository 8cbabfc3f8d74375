"""The op `accounts_refresh`: ask the usage tracker what is left of accounts."""

from msgspec import Struct
from msgspec.structs import asdict

from termvisor.ops.accounts import accounts_list
from termvisor.ops.accounts._account_item import ServiceFilter
from termvisor.ops.accounts.accounts_list import AccountListing, build_account_listing
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.redaction import redact


class AccountsRefreshArgs(Struct, frozen=True, kw_only=True):
    """Which ones."""

    service: ServiceFilter = None


class AccountsRefreshResult(AccountListing, frozen=True, kw_only=True):
    """``told`` says why the tracker told nothing; then all is as it was known before."""

    told: str = ""


async def run(services: Services, args: AccountsRefreshArgs) -> AccountsRefreshResult:
    told = await services.accounts.refresh_usage(args.service)
    known = await services.accounts.list_statuses()
    listing = build_account_listing(services, [one for one in known if args.service in (None, one.account.service)])
    return AccountsRefreshResult(**asdict(listing), told=redact(told))


def render_text(result: AccountsRefreshResult, options: RenderOptions) -> str:
    rows = accounts_list.render_text(result, options)
    return (
        rows if not result.told else f"{rows}\n{options.paint('yellow', sanitize(f'as known before: {result.told}'))}"
    )


OP = Operation(
    name="accounts_refresh",
    summary="Ask the usage tracker what is left of accounts.",
    doc="""The program of the setting `account_tracker` (`caut`) is asked for each service that has accounts, if it is
installed. Its absence, failure or silence changes nothing: `told` names it, and what agents themselves said still
holds.""",
    args_type=AccountsRefreshArgs,
    result_type=AccountsRefreshResult,
    run=run,
    render_text=render_text,
    effect="change",
    examples=(
        OperationExample("accounts refresh", "all of them"),
        OperationExample("robot accounts refresh --service anthropic", "those of one service, as JSON"),
    ),
)
