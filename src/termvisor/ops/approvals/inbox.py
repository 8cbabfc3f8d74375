"""The operation `inbox`: list approval requests, or wait for one."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.bus import wait_for_update
from termvisor.clock import format_timestamp
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.approvals._approval_item import ApprovalItem, build_approval_item, format_approval_lines
from termvisor.ops.render.results import BaseListing, build_filters
from termvisor.ops.render.text import RenderOptions, pluralize, sanitize


class InboxArgs(Struct, frozen=True, kw_only=True):
    """Choose the requests, and whether to wait for one."""

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
    approvals = await services.gate.approvals.list(is_open=not args.all, limit=args.limit)
    now = services.clock.now()
    items = tuple(build_approval_item(approval, now) for approval in approvals)
    summary = InboxSummary(questions=len(items), open=sum(item.state == "open" for item in items))
    return InboxListing(
        generated_at=format_timestamp(now),
        filters=build_filters(all=args.all),
        summary=summary,
        items=items,
        policy_problem=services.gate.audit.load_policy()[1],
    )


async def _wait_until_open(services: Services, seconds: float) -> None:
    """Return once there is an open request, or on timeout."""
    approvals, deadline = services.gate.approvals, services.clock.monotonic() + seconds
    # Subscribe before the first check, so that a request opened in between is not missed.
    with approvals.subscribe() as updates:
        while not await approvals.list(is_open=True, limit=1):
            if (remaining := deadline - services.clock.monotonic()) <= 0:
                return
            await wait_for_update(services.clock, remaining, updates)


def render_text(result: InboxListing, options: RenderOptions) -> str:
    blocks = [options.paint("red", sanitize(result.policy_problem))] if result.policy_problem else []
    blocks += ["\n".join(format_approval_lines(item)) for item in result.items]
    if options.is_quiet:
        return "\n".join(blocks)
    if not result.items:
        return "\n\n".join([*blocks, "No open approval requests."])
    number = next((item.id for item in result.items if item.state == "open"), None)
    hint = f": `visor approve {number}` or `visor deny {number}`" if number is not None else ""
    return "\n\n".join([*blocks, f"{pluralize(result.summary.open, 'open approval request')}{hint}"])


OP = Operation(
    name="inbox",
    robot_name="inbox",
    summary="List approval requests that wait for an answer.",
    doc="""Each request is for one exact action in one pane, with the reasons why it requires approval. `visor approve`
and `visor deny` answer it. A request that expires unanswered is denied. `--wait` returns as soon as there is one.""",
    run=run,
    render_text=render_text,
    examples=(
        OperationExample("inbox", "the open requests"),
        OperationExample("robot inbox --wait 60", "wait up to a minute for one, as JSON"),
        OperationExample("inbox --all -n 10", "include closed requests"),
    ),
)
