"""The operation `accounts_use`: set the account to which the usage of a service's agents is attributed."""

from msgspec import Struct

from termvisor.model.action.action import WriteConfig
from termvisor.ops.accounts._account_item import AccountItem, AccountReference, build_account_item
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions, sanitize


class AccountsUseArgs(Struct, frozen=True, kw_only=True):
    """Choose the account."""

    account: AccountReference


class AccountsUseResult(Struct, frozen=True, kw_only=True):
    account: AccountItem


async def run(services: Services, args: AccountsUseArgs) -> AccountsUseResult:
    return AccountsUseResult(
        account=build_account_item(await services.accounts.use_account(args.account), services.clock.now())
    )


def render_text(result: AccountsUseResult, options: RenderOptions) -> str:
    item = result.account
    return f"usage of {item.service} agents is now attributed to {options.paint('bold', sanitize(item.name))}"


OP = Operation(
    name="accounts_use",
    summary="Set the account to which usage of a service's agents is attributed.",
    doc="""The limits that an agent reports belong to the account that it runs under. An agent that was started with
`--account`, or with its own config directory, is known by that; all others are attributed to the account in use. No
agent is changed and nothing is logged in or out. A program needs approval.""",
    run=run,
    render_text=render_text,
    effect="change",
    list_changes=lambda _services, args: (WriteConfig(change="account", name=args.account),),
    exit_statuses=((4, "Account not found."),),
    examples=(
        OperationExample("accounts use work", "you are logged in with this account"),
        OperationExample("robot accounts use openai/work", "as JSON"),
    ),
)
