"""The op `accounts_use`: say under which account agents of a service work from now on."""

from msgspec import Struct

from termvisor.ops.accounts._account_item import AccountItem, Named, account_item
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.render.text import Look, clean


class UseAccount(Struct, frozen=True, kw_only=True):
    """Which one."""

    account: Named


class AccountUsed(Struct, frozen=True, kw_only=True):
    account: AccountItem


async def run(world: World, wanted: UseAccount) -> AccountUsed:
    return AccountUsed(account=account_item(await world.accounts.use(wanted.account), world.clock.now()))


def plain(used: AccountUsed, look: Look) -> str:
    item = used.account
    return f"agents of {item.service} count as working under {look.paint('bold', clean(item.name))}"


OP = Op(
    name="accounts_use",
    summary="Say under which account agents of a service work.",
    doc="""What an agent tells of its limits belongs to the account that it works under. An agent that was started with
`--account`, or with a folder of its own, is known by that; all others count as working under the account that is in
use. No agent is touched and nothing is logged in or out: it says how things are.""",
    Input=UseAccount,
    Output=AccountUsed,
    run=run,
    plain=plain,
    effect="change",
    exits=((4, "There is no such account."),),
    examples=(
        Example("accounts use work", "you are logged in with this one"),
        Example("robot accounts use openai/work", "as JSON"),
    ),
)
