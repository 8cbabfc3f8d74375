"""The op `accounts_pick`: which account to use now, and why."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.model.agent.account import AccountCandidate, Service
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions, TableColumn, render_table, sanitize
from termvisor.redaction import redact


class AccountsPickArgs(Struct, frozen=True, kw_only=True):
    """Of which service, and how much to say."""

    service: Annotated[Service, Meta(description="Of which service.", extra={"positional": "one"})]
    explain: Annotated[bool, Meta(description="Say of every account why it was taken or not.")] = False


class AccountsPickResult(Struct, frozen=True, kw_only=True):
    """``account`` is `service/name`; null where none fits. ``candidates`` are the accounts, the best first."""

    account: str | None
    why: str
    candidates: tuple[AccountCandidate, ...] = ()


async def run(services: Services, args: AccountsPickArgs) -> AccountsPickResult:
    picked = await services.accounts.pick_account(args.service)
    account = None if picked.account is None else picked.account.ref
    return AccountsPickResult(
        account=account, why=redact(picked.why), candidates=picked.candidates if args.explain else ()
    )


COLUMNS = (
    TableColumn("ACCOUNT", lambda item: sanitize(item.ref), style="cyan"),
    TableColumn("VERDICT", lambda item: item.verdict, style="bold"),
    TableColumn("WHY", lambda item: sanitize(item.why), can_shrink=True),
)


def render_text(result: AccountsPickResult, options: RenderOptions) -> str:
    head = sanitize(result.why)
    return f"{head}\n\n{render_table(COLUMNS, result.candidates, options)}" if result.candidates else head


OP = Operation(
    name="accounts_pick",
    summary="Which account to use now, and why.",
    doc="""The one with the most left is taken, if that is at least `account_threshold`; of equals the one that was used
least recently, then the one with the lower `priority`. One of which nothing is known is taken only when none is known
to have enough. The usage tracker is asked first, if one is installed. Nothing is started or changed.""",
    args_type=AccountsPickArgs,
    result_type=AccountsPickResult,
    run=run,
    render_text=render_text,
    get_exit_status=lambda picked: 0 if picked.account else 1,
    exit_statuses=((1, "No account fits."),),
    examples=(
        OperationExample("accounts pick openai --explain", "with a word on each of them"),
        OperationExample("robot accounts pick anthropic", "as JSON"),
    ),
)
