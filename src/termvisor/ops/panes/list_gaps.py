"""The op `list_gaps`: what could not be captured, where and why."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import format_timestamp
from termvisor.model.terminal.output import Gap, GapCause
from termvisor.ops.api.envelope import compute_seconds_between
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes._listing import (
    BaseListing,
    PaneFilter,
    PaneIdentity,
    SessionFilter,
    TargetFilter,
    build_filters,
    build_unknown_identity,
    count_values,
    format_optional_timestamp,
    identify_all_panes,
    parse_time_filter,
    resolve_pane_id,
)
from termvisor.ops.render.text import RenderOptions, TableColumn, format_age, pluralize, render_table

GAP_CAUSE_TEXTS: dict[GapCause, str] = {
    "pipe_stolen": "Somebody else took the pane's pipe; we listen another way from then on.",
    "pipe_closed": "The pane's pipe was closed by somebody; we do not pipe that pane again.",
    "recorder_restart": "The recorder process ended and was started again.",
    "client_paused": "The multiplexer paused us because we read too slowly.",
    "server_gone": "The multiplexer server ended or no longer answered.",
    "scrollback_truncated": "More was printed than the multiplexer kept before we listened.",
    "cursor_jump": "A polled screen moved on in a way that proves no continuity.",
    "pane_reset": "The pane was reset or its history cleared while we only saw its screen.",
    "link_down": "The connection to the target was down.",
    "disk_full": "There was no room left, or the recorder's limit was reached while no daemon ran.",
    "log_truncated": "The raw log on disk is shorter than what was already read from it.",
    "tail_uncertain": "A program ended and its last bytes may not have reached us.",
}


class ListGapsArgs(Struct, frozen=True, kw_only=True):
    """Which gaps to list."""

    session: SessionFilter = None
    target: TargetFilter = None
    pane: PaneFilter = None
    since: Annotated[str | None, Meta(description="Not older than this: ISO 8601, today, or an age such as 10m.")] = (
        None
    )


class GapItem(Struct, frozen=True, kw_only=True):
    """``after_epoch`` and ``before_epoch`` are the unbroken stretches on both sides."""

    identity: PaneIdentity
    cause: GapCause
    start_at: str
    end_at: str | None
    seconds: float | None
    after_epoch: int | None
    before_epoch: int | None
    detail: str


class GapsSummary(Struct, frozen=True, kw_only=True):
    gaps: int
    open: int
    by_cause: dict[str, int]


class GapListing(BaseListing, frozen=True, kw_only=True):
    """Gaps, oldest first."""

    summary: GapsSummary
    items: tuple[GapItem, ...]


async def run(services: Services, args: ListGapsArgs) -> GapListing:
    now = services.clock.now()
    gaps = await services.history.list_gaps(
        pane=await resolve_pane_id(services, args.pane),
        since=parse_time_filter(args.since, now),
    )
    who = await identify_all_panes(services)
    items = tuple(
        item
        for item in (_build_gap_item(gap, who.get(gap.pane) or build_unknown_identity(gap.pane)) for gap in gaps)
        if args.session in (None, item.identity.session_name) and args.target in (None, item.identity.target)
    )
    given = build_filters(session=args.session, target=args.target, pane=args.pane, since=args.since)
    summary = GapsSummary(
        gaps=len(items),
        open=sum(item.end_at is None for item in items),
        by_cause=count_values(item.cause for item in items),
    )
    return GapListing(generated_at=format_timestamp(now), filters=given, summary=summary, items=items)


def _build_gap_item(gap: Gap, identity: PaneIdentity) -> GapItem:
    return GapItem(
        identity=identity,
        cause=gap.cause,
        start_at=format_timestamp(gap.start_at),
        end_at=format_optional_timestamp(gap.end_at),
        seconds=None if gap.end_at is None else compute_seconds_between(gap.start_at, gap.end_at),
        after_epoch=gap.after,
        before_epoch=gap.before,
        detail=gap.detail,
    )


COLUMNS = (
    TableColumn("PANE", lambda gap: str(gap.identity.id), is_right_aligned=True, style="bold"),
    TableColumn("SESSION", lambda gap: gap.identity.session_name, can_shrink=True, style="cyan"),
    TableColumn("CAUSE", lambda gap: gap.cause, style="yellow"),
    TableColumn("FROM", lambda gap: gap.start_at),
    TableColumn("TO", lambda gap: gap.end_at or "still open"),
    TableColumn("LENGTH", lambda gap: format_age(gap.seconds), is_right_aligned=True),
    TableColumn("WHAT", lambda gap: gap.detail or GAP_CAUSE_TEXTS[gap.cause], can_shrink=True),
)


def render_text(result: GapListing, options: RenderOptions) -> str:
    rows = render_table(COLUMNS, result.items, options)
    if options.is_quiet:
        return rows
    told = f"{pluralize(result.summary.gaps, 'gap')}, {result.summary.open} open"
    return f"{rows}\n\n{told}" if result.items else "No gaps: everything was captured."


OP = Operation(
    name="list_gaps",
    aliases=("gaps",),
    robot_name="gaps",
    summary="What could not be captured: where, when and why.",
    doc="Everything outside these gaps was captured exactly. The causes are a closed list, in the gaps reference.",
    args_type=ListGapsArgs,
    result_type=GapListing,
    run=run,
    render_text=render_text,
    examples=(
        OperationExample("gaps", "all gaps"),
        OperationExample("gaps --pane 7 --since today", "today's gaps of one pane"),
    ),
)
