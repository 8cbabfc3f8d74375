"""The op `accounts_show`: one account with all its limits."""

from msgspec import Struct

from termvisor.ops.accounts._account_item import AccountItem, Named, account_item, percent, standing
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.render.text import Column, Look, clean, table


class ShowAccount(Struct, frozen=True, kw_only=True):
    """Which one."""

    account: Named


class AccountShown(Struct, frozen=True, kw_only=True):
    account: AccountItem


async def run(world: World, wanted: ShowAccount) -> AccountShown:
    return AccountShown(account=account_item(await standing(world, wanted.account), world.clock.now()))


COLUMNS = (
    Column("LIMIT", lambda item: clean(item.span), style="cyan"),
    Column("TYPE", lambda item: item.usage_type),
    Column("LEFT", lambda item: percent(item.percent_remaining), style="bold"),
    Column("RESETS", lambda item: item.resets_at or "-"),
    Column("HEARD", lambda item: item.checked_at),
    Column("FROM", lambda item: clean(item.source), may_shrink=True),
)


def plain(shown: AccountShown, look: Look) -> str:
    item = shown.account
    facts = {
        "account": f"{item.service}/{item.name}{'' if item.active else ' (not active)'}",
        "email": item.email,
        "in use": "yes" if item.in_use else "no",
        "left": percent(item.percent_remaining),
        "priority": str(item.priority),
        "last used": item.last_used or "never",
        "credentials": item.credentials,
        "browser profile": item.browser_profile,
        "trouble": item.trouble,
    }
    lines = [f"{look.paint('dim', f'{name:<16}')}{clean(value)}" for name, value in facts.items() if value]
    return "\n".join(
        [*lines, "", table(COLUMNS, item.usage, look) if item.usage else "Nothing was heard of its limits."]
    )


OP = Op(
    name="accounts_show",
    summary="One account with all that is known of its limits.",
    doc="""Each limit is told with what is left of it, when it is whole again, when that was heard and from whom. An
account is named by its name, or by `service/name` where two services have one of that name.""",
    Input=ShowAccount,
    Output=AccountShown,
    run=run,
    plain=plain,
    exits=((4, "There is no such account."),),
    examples=(
        Example("accounts show work", "for people"),
        Example("robot accounts show openai/work", "as JSON"),
    ),
)
