"""The op `accounts_show`: one account with all its limits."""

from msgspec import Struct

from termvisor.ops.accounts._account_item import (
    AccountItem,
    AccountReference,
    build_account_item,
    find_account_status,
    format_percent,
)
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions, TableColumn, render_table, sanitize


class AccountsShowArgs(Struct, frozen=True, kw_only=True):
    """Which one."""

    account: AccountReference


class AccountsShowResult(Struct, frozen=True, kw_only=True):
    account: AccountItem


async def run(services: Services, args: AccountsShowArgs) -> AccountsShowResult:
    return AccountsShowResult(
        account=build_account_item(await find_account_status(services, args.account), services.clock.now())
    )


COLUMNS = (
    TableColumn("LIMIT", lambda item: sanitize(item.span), style="cyan"),
    TableColumn("TYPE", lambda item: item.usage_type),
    TableColumn("LEFT", lambda item: format_percent(item.percent_remaining), style="bold"),
    TableColumn("RESETS", lambda item: item.resets_at or "-"),
    TableColumn("HEARD", lambda item: item.checked_at),
    TableColumn("FROM", lambda item: sanitize(item.source), can_shrink=True),
)


def render_text(result: AccountsShowResult, options: RenderOptions) -> str:
    item = result.account
    facts = {
        "account": f"{item.service}/{item.name}{'' if item.active else ' (not active)'}",
        "email": item.email,
        "in use": "yes" if item.in_use else "no",
        "left": format_percent(item.percent_remaining),
        "priority": str(item.priority),
        "last used": item.last_used or "never",
        "credentials": item.credentials,
        "browser profile": item.browser_profile,
        "trouble": item.trouble,
    }
    lines = [f"{options.paint('dim', f'{name:<16}')}{sanitize(value)}" for name, value in facts.items() if value]
    return "\n".join(
        [*lines, "", render_table(COLUMNS, item.usage, options) if item.usage else "Nothing was heard of its limits."]
    )


OP = Operation(
    name="accounts_show",
    summary="One account with all that is known of its limits.",
    doc="""Each limit is told with what is left of it, when it is whole again, when that was heard and from whom. An
account is named by its name, or by `service/name` where two services have one of that name.""",
    args_type=AccountsShowArgs,
    result_type=AccountsShowResult,
    run=run,
    render_text=render_text,
    exit_statuses=((4, "There is no such account."),),
    examples=(
        OperationExample("accounts show work", "for people"),
        OperationExample("robot accounts show openai/work", "as JSON"),
    ),
)
