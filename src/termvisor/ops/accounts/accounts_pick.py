"""The op `accounts_pick`: which account to use now, and why."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.model.agent.account import Judged, Service
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.render.text import Column, Look, clean, table
from termvisor.redaction import redact


class PickAccount(Struct, frozen=True, kw_only=True):
    """Of which service, and how much to say."""

    service: Annotated[Service, Meta(description="Of which service.", extra={"positional": "one"})]
    explain: Annotated[bool, Meta(description="Say of every account why it was taken or not.")] = False


class AccountPicked(Struct, frozen=True, kw_only=True):
    """``account`` is `service/name`; null where none fits. ``candidates`` are the accounts, the best first."""

    account: str | None
    why: str
    candidates: tuple[Judged, ...] = ()


async def run(world: World, wanted: PickAccount) -> AccountPicked:
    picked = await world.accounts.pick(wanted.service)
    account = None if picked.account is None else picked.account.ref
    return AccountPicked(
        account=account, why=redact(picked.why), candidates=picked.candidates if wanted.explain else ()
    )


COLUMNS = (
    Column("ACCOUNT", lambda item: clean(item.ref), style="cyan"),
    Column("VERDICT", lambda item: item.verdict, style="bold"),
    Column("WHY", lambda item: clean(item.why), may_shrink=True),
)


def plain(picked: AccountPicked, look: Look) -> str:
    head = clean(picked.why)
    return f"{head}\n\n{table(COLUMNS, picked.candidates, look)}" if picked.candidates else head


OP = Op(
    name="accounts_pick",
    summary="Which account to use now, and why.",
    doc="""The one with the most left is taken, if that is at least `account_threshold`; of equals the one that was used
least recently, then the one with the lower `priority`. One of which nothing is known is taken only when none is known
to have enough. The usage tracker is asked first, if one is installed. Nothing is started or changed.""",
    Input=PickAccount,
    Output=AccountPicked,
    run=run,
    plain=plain,
    exit_status=lambda picked: 0 if picked.account else 1,
    exits=((1, "No account fits."),),
    examples=(
        Example("accounts pick openai --explain", "with a word on each of them"),
        Example("robot accounts pick anthropic", "as JSON"),
    ),
)
