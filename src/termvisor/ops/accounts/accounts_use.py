"""The op `accounts_use`: say under which account agents of a service work from now on."""

from msgspec import Struct

from termvisor.ops.accounts._account_item import AccountItem, AccountReference, build_account_item
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions, sanitize


class AccountsUseArgs(Struct, frozen=True, kw_only=True):
    """Which one."""

    account: AccountReference


class AccountsUseResult(Struct, frozen=True, kw_only=True):
    account: AccountItem


async def run(services: Services, args: AccountsUseArgs) -> AccountsUseResult:
    return AccountsUseResult(
        account=build_account_item(await services.accounts.use_account(args.account), services.clock.now())
    )


def render_text(result: AccountsUseResult, options: RenderOptions) -> str:
    item = result.account
    return f"agents of {item.service} count as working under {options.paint('bold', sanitize(item.name))}"


OP = Operation(
    name="accounts_use",
    summary="Say under which account agents of a service work.",
    doc="""What an agent tells of its limits belongs to the account that it works under. An agent that was started with
`--account`, or with a folder of its own, is known by that; all others count as working under the account that is in
use. No agent is touched and nothing is logged in or out: it says how things are.""",
    args_type=AccountsUseArgs,
    result_type=AccountsUseResult,
    run=run,
    render_text=render_text,
    effect="change",
    exit_statuses=((4, "There is no such account."),),
    examples=(
        OperationExample("accounts use work", "you are logged in with this one"),
        OperationExample("robot accounts use openai/work", "as JSON"),
    ),
)
