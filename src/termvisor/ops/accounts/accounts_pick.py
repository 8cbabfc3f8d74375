"""The operation `accounts_pick`: recommend the account to use now, with the reason."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.model.agent.account import AccountCandidate, Service
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.table import TableColumn, render_table
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.redaction import redact


class AccountsPickArgs(Struct, frozen=True, kw_only=True):
    """Choose the service."""

    service: Annotated[Service, Meta(description="The service.", extra={"positional": "one"})]
    explain: Annotated[bool, Meta(description="Show for every account why it was picked or not.")] = False


class AccountsPickResult(Struct, frozen=True, kw_only=True):
    """``account`` is `service/name`; null if none qualifies. ``candidates`` are all accounts, best first."""

    account: str | None
    why: str
    candidates: tuple[AccountCandidate, ...] = ()


async def run(services: Services, args: AccountsPickArgs) -> AccountsPickResult:
    choice = await services.accounts.pick_account(args.service)
    return AccountsPickResult(
        account=None if choice.account is None else choice.account.ref,
        why=redact(choice.why),
        candidates=choice.candidates if args.explain else (),
    )


COLUMNS = (
    TableColumn("ACCOUNT", lambda item: sanitize(item.ref), style="cyan"),
    TableColumn("VERDICT", lambda item: item.verdict, style="bold"),
    TableColumn("WHY", lambda item: sanitize(item.why), can_shrink=True, kind="sentence"),
)


def render_text(result: AccountsPickResult, options: RenderOptions) -> str:
    head = sanitize(result.why)
    return f"{head}\n\n{render_table(COLUMNS, result.candidates, options)}" if result.candidates else head


OP = Operation(
    name="accounts_pick",
    summary="Recommend the account to use now, with the reason.",
    doc="""Picks the account with the most usage left, if that is at least `account_threshold`; among equals the least
recently used one, then the one with the lower `priority`. An account with unknown usage is picked only if no other has
enough. Queries the usage tracker first, if one is installed. Nothing is started or changed.""",
    run=run,
    render_text=render_text,
    get_exit_status=lambda result: 0 if result.account else 1,
    exit_statuses=((1, "No account qualifies."),),
    examples=(
        OperationExample("accounts pick openai --explain", "with the reason for each account"),
        OperationExample("robot accounts pick anthropic", "as JSON"),
    ),
)
