"""The operation `inbox`: list approval requests, or wait for one."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.bus import wait_for_update
from termvisor.clock import format_timestamp
from termvisor.errors import BadRequest
from termvisor.model.action.approval import Approval
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.approvals._approval_item import (
    ApprovalItem,
    ApprovalNumber,
    build_approval_item,
    format_approval_lines,
    format_state,
)
from termvisor.ops.render.results import BaseListing, build_filters
from termvisor.ops.render.table import TableColumn, render_table
from termvisor.ops.render.text import RenderOptions, format_age, pluralize, sanitize


class InboxArgs(Struct, frozen=True, kw_only=True):
    """Choose the requests, and whether to wait for one."""

    id: ApprovalNumber = None
    all: Annotated[bool, Meta(description="Include closed requests.")] = False
    wait: Annotated[
        float, Meta(description="If there is no open request, wait up to this many seconds for one.", ge=0, le=604_800)
    ] = 0.0
    limit: Annotated[int, Meta(description="Maximum number of requests.", ge=1, le=1000, extra={"short": ("-n",)})] = 50


class InboxSummary(Struct, frozen=True, kw_only=True):
    questions: int
    open: int


class InboxListing(BaseListing, frozen=True, kw_only=True):
    """Approval requests, oldest first. ``policy_problem`` is the error in the policy file; then everything is asked."""

    summary: InboxSummary
    items: tuple[ApprovalItem, ...]
    policy_problem: str = ""


async def run(services: Services, args: InboxArgs) -> InboxListing:
    await _wait_until_open(services, args.wait)
    approvals = await _list_approvals(services, args)
    now = services.clock.now()
    folders = {pane.id: pane.facts.cwd for pane in await services.panes.list_panes()}
    items = tuple(
        build_approval_item(approval, now, folders.get(approval.pane, "") if approval.pane else "")
        for approval in approvals
    )
    summary = InboxSummary(questions=len(items), open=sum(item.state == "open" for item in items))
    return InboxListing(
        generated_at=format_timestamp(now),
        filters=build_filters(all=args.all, id=args.id),
        summary=summary,
        items=items,
        policy_problem=services.gate.audit.load_policy()[1],
    )


async def _list_approvals(services: Services, args: InboxArgs) -> list[Approval]:
    if args.id is None:
        return await services.gate.approvals.list(is_open=not args.all, limit=args.limit)
    approval = await services.gate.approvals.find(args.id)
    if approval is None:
        raise BadRequest(f"approval request {args.id} not found", hint="`visor inbox` lists the open requests.")
    return [approval]


async def _wait_until_open(services: Services, seconds: float) -> None:
    """Return once there is an open request, or on timeout."""
    approvals, deadline = services.gate.approvals, services.clock.monotonic() + seconds
    # Subscribe before the first check, so that a request opened in between is not missed.
    with approvals.subscribe() as updates:
        while not await approvals.list(is_open=True, limit=1):
            if (remaining := deadline - services.clock.monotonic()) <= 0:
                return
            await wait_for_update(services.clock, remaining, updates)


def _describe_request(item: ApprovalItem) -> str:
    text = _describe_dialog(item) or item.what
    return f"{text} ({item.count} times)" if item.count > 1 else text


def _describe_dialog(item: ApprovalItem) -> str:
    """Return `claude_code: touch made (Bash command)` for a dialog: the rows that tell what is asked come first."""
    agent = item.action.get("agent", "")
    prefix = f"accept the dialog of {agent}: "
    rows = [row for row in item.what.removeprefix(prefix).split(" / ") if not row.startswith("Tip:")]
    heading, *details = [row for row in rows if not row.endswith("?")] or rows
    if not item.what.startswith(prefix):
        return ""
    return f"{agent}: {' / '.join(details)} ({heading})" if details else f"{agent}: {heading}"


_COLUMNS = (
    TableColumn("ID", lambda item: str(item.id), is_right_aligned=True, style="bold"),
    TableColumn("AGE", lambda item: format_age(item.age), is_right_aligned=True),
    TableColumn("PANE", lambda item: "-" if item.pane is None else str(item.pane), is_right_aligned=True),
    TableColumn(
        "FOLDER", lambda item: item.folder, can_shrink=True, min_width=12, style="cyan", worth=5, kind="folder"
    ),
    TableColumn("ASKS", _describe_request, can_shrink=True, min_width=40),
)
_STATE_COLUMN = TableColumn("STATE", format_state, can_shrink=True, min_width=10)


def render_text(result: InboxListing, options: RenderOptions) -> str:
    blocks = [options.paint("red", sanitize(result.policy_problem))] if result.policy_problem else []
    if "id" in result.filters:
        blocks += ["\n".join(format_approval_lines(item)) for item in result.items]
    else:
        columns = _COLUMNS if result.summary.open == len(result.items) else (*_COLUMNS, _STATE_COLUMN)
        blocks += [render_table(columns, result.items, options)] if result.items else []
    if options.is_quiet:
        return "\n".join(blocks)
    if not result.items:
        return "\n\n".join([*blocks, "No open approval requests."])
    number = next((item.id for item in result.items if item.state == "open"), None)
    hint = f": `visor approve {number}` or `visor deny {number}`" if number is not None else ""
    more = "" if "id" in result.filters else f"\n`visor inbox {number or result.items[0].id}` shows all of it."
    return "\n\n".join([*blocks, f"{pluralize(result.summary.open, 'open request')}{hint}{more}"])


OP = Operation(
    name="inbox",
    robot_name="inbox",
    summary="List approval requests that wait for an answer.",
    doc="""Each request is for one exact action in one pane, with the reasons why it requires approval. `visor approve`
and `visor deny` answer it. `visor inbox 12` shows all of request 12. A request about an agent's dialog stays open as
long as the dialog is shown; an answer at the pane or the agent's exit closes it, with that outcome. Other requests are
denied when they expire. `--wait` returns as soon as there is one.""",
    run=run,
    shows_pane_text=True,
    render_text=render_text,
    examples=(
        OperationExample("inbox", "the open requests"),
        OperationExample("inbox 12", "all of request 12: pane, folder, caller, reasons, what --session grants"),
        OperationExample("robot inbox --wait 60", "wait up to a minute for one, as JSON"),
        OperationExample("inbox --all -n 10", "include closed requests"),
    ),
)
