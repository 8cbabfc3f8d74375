"""The operation `accounts_show`: show one account with its usage limits."""

from msgspec import Struct

from termvisor.ops.accounts import _account_item
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.table import TableColumn, render_table
from termvisor.ops.render.text import RenderOptions, format_time, sanitize


class AccountsShowArgs(Struct, frozen=True, kw_only=True):
    """Choose the account."""

    account: _account_item.AccountReference


class AccountsShowResult(Struct, frozen=True, kw_only=True):
    account: _account_item.AccountItem


async def run(services: Services, args: AccountsShowArgs) -> AccountsShowResult:
    return AccountsShowResult(
        account=_account_item.build_account_item(
            await _account_item.find_account_status(services, args.account), services.clock.now()
        )
    )


COLUMNS = (
    TableColumn("LIMIT", lambda item: sanitize(item.span), style="cyan"),
    TableColumn("TYPE", lambda item: item.usage_type, worth=2),
    TableColumn("LEFT", lambda item: _account_item.format_percent(item.percent_remaining), style="bold"),
    TableColumn("RESETS", lambda item: item.resets_at or "-", worth=5, kind="time"),
    TableColumn("CHECKED", lambda item: item.checked_at, worth=3, kind="time"),
    TableColumn("SOURCE", lambda item: sanitize(item.source), can_shrink=True, worth=1),
)


def render_text(result: AccountsShowResult, options: RenderOptions) -> str:
    item = result.account
    facts = {
        "account": f"{item.service}/{item.name}{'' if item.active else ' (inactive)'}",
        "email": item.email,
        "in use": "yes" if item.in_use else "no",
        "left": _account_item.format_percent(item.percent_remaining),
        "priority": str(item.priority),
        "last used": format_time(item.last_used or "never", options),
        "credentials": item.credentials,
        "browser profile": item.browser_profile,
        "problem": item.trouble,
    }
    lines = [f"{options.paint('dim', f'{name:<16}')}{sanitize(value)}" for name, value in facts.items() if value]
    limits = render_table(COLUMNS, item.usage, options) if item.usage else "No usage limits known."
    return "\n".join([*lines, "", limits])


OP = Operation(
    name="accounts_show",
    summary="Show one account with its usage limits.",
    doc="""Shows for each limit the remaining usage, when it resets, when it was checked, and the source. Use
`service/name` if two services have an account with the same name.""",
    run=run,
    render_text=render_text,
    exit_statuses=((4, "Account not found."),),
    examples=(
        OperationExample("accounts show work", "as text"),
        OperationExample("robot accounts show openai/work", "as JSON"),
    ),
)
