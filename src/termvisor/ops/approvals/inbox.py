"""The op `inbox`: questions that a person must answer before something is done."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import format_timestamp
from termvisor.model.action.approval import Approval
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.approvals._approval_item import ApprovalItem, build_approval_item, format_approval_lines
from termvisor.ops.panes._listing import BaseListing, build_filters
from termvisor.ops.panes._wait_update import wait_for_update
from termvisor.ops.render.text import RenderOptions, pluralize


class InboxArgs(Struct, frozen=True, kw_only=True):
    """Which questions, and whether to wait for one."""

    all: Annotated[bool, Meta(description="Also those that are closed.")] = False
    wait: Annotated[
        float, Meta(description="While there is no open question, wait so many seconds.", ge=0, le=604_800)
    ] = 0.0
    limit: Annotated[int, Meta(description="At most so many.", ge=1, le=1000, extra={"short": ("-n",)})] = 50


class InboxSummary(Struct, frozen=True, kw_only=True):
    questions: int
    open: int


class InboxListing(BaseListing, frozen=True, kw_only=True):
    """Questions, oldest first."""

    summary: InboxSummary
    items: tuple[ApprovalItem, ...]


async def run(services: ActingServices, args: InboxArgs) -> InboxListing:
    await _wait_until_open(services, args.wait)
    found = await services.gate.approvals.list(is_open=not args.all, limit=args.limit)
    now = services.clock.now()
    items = tuple(build_approval_item(one, now) for one in found)
    summary = InboxSummary(questions=len(items), open=sum(item.state == "open" for item in items))
    return InboxListing(
        generated_at=format_timestamp(now), filters=build_filters(all=args.all), summary=summary, items=items
    )


async def _wait_until_open(services: ActingServices, seconds: float) -> None:
    """Until somebody asks, or the time is over."""
    until = services.clock.monotonic() + seconds
    with services.gate.approvals.subscribe() as news:
        while not await _list_open(services) and (left := until - services.clock.monotonic()) > 0:
            await wait_for_update(services.clock, left, news)


async def _list_open(services: ActingServices) -> list[Approval]:
    return await services.gate.approvals.list(is_open=True, limit=1)


def render_text(result: InboxListing, options: RenderOptions) -> str:
    told_of = ["\n".join(format_approval_lines(item)) for item in result.items]
    if options.is_quiet:
        return "\n".join(told_of)
    if not result.items:
        return "Nothing is asked."
    number = next((item.id for item in result.items if item.state == "open"), None)
    hint = f": `visor approve {number}` or `visor deny {number}`" if number is not None else ""
    return "\n\n".join([*told_of, f"{pluralize(result.summary.open, 'open question')}{hint}"])


OP = Operation(
    name="inbox",
    robot_name="inbox",
    summary="What waits for a person's yes or no.",
    doc="""Each question is about one exact action in one exact pane, with the reasons why it is asked. `approve` and
`deny` answer it. A question that nobody answers in time is a no. `--wait` returns as soon as there is one.""",
    args_type=InboxArgs,
    result_type=InboxListing,
    run=run,
    render_text=render_text,
    examples=(
        OperationExample("inbox", "the open questions"),
        OperationExample("robot inbox --wait 60", "wait a minute for one, as JSON"),
        OperationExample("inbox --all -n 10", "also those that are closed"),
    ),
)
