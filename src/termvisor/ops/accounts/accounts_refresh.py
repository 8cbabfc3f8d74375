"""The op `accounts_refresh`: ask the usage tracker what is left of accounts."""

from msgspec import Struct
from msgspec.structs import asdict

from termvisor.ops.accounts import accounts_list
from termvisor.ops.accounts._account_item import OneService
from termvisor.ops.accounts.accounts_list import AccountListing, listed
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.render.text import Look, clean
from termvisor.redaction import redact


class RefreshAccounts(Struct, frozen=True, kw_only=True):
    """Which ones."""

    service: OneService = None


class AccountsRefreshed(AccountListing, frozen=True, kw_only=True):
    """``told`` says why the tracker told nothing; then all is as it was known before."""

    told: str = ""


async def run(world: World, wanted: RefreshAccounts) -> AccountsRefreshed:
    told = await world.accounts.refresh(wanted.service)
    known = await world.accounts.standings()
    listing = listed(world, [one for one in known if wanted.service in (None, one.account.service)])
    return AccountsRefreshed(**asdict(listing), told=redact(told))


def plain(refreshed: AccountsRefreshed, look: Look) -> str:
    rows = accounts_list.plain(refreshed, look)
    return (
        rows if not refreshed.told else f"{rows}\n{look.paint('yellow', clean(f'as known before: {refreshed.told}'))}"
    )


OP = Op(
    name="accounts_refresh",
    summary="Ask the usage tracker what is left of accounts.",
    doc="""The program of the setting `account_tracker` (`caut`) is asked for each service that has accounts, if it is
installed. Its absence, failure or silence changes nothing: `told` names it, and what agents themselves said still
holds.""",
    Input=RefreshAccounts,
    Output=AccountsRefreshed,
    run=run,
    plain=plain,
    effect="change",
    examples=(
        Example("accounts refresh", "all of them"),
        Example("robot accounts refresh --service anthropic", "those of one service, as JSON"),
    ),
)
