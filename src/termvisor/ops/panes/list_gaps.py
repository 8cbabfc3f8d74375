"""Operation `list_gaps`: list the periods in which output was not captured, with their causes."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import compute_seconds_between, format_timestamp
from termvisor.model.terminal.output import UNCERTAIN_TAIL, Gap, GapCause
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes import _pane_reference
from termvisor.ops.render import results
from termvisor.ops.render.table import TableColumn
from termvisor.ops.render.text import RenderOptions, format_age, pluralize

GAP_CAUSE_TEXTS: dict[GapCause, str] = {
    "pipe_stolen": "Another program took over the pane's pipe; capture continues through another channel.",
    "pipe_closed": "Another program closed the pane's pipe; it is not reopened for this pane.",
    "recorder_restart": "The recorder process exited and was restarted.",
    "client_paused": "The multiplexer paused its output because it was read too slowly.",
    "server_gone": "The multiplexer server exited or stopped responding.",
    "scrollback_truncated": "The pane printed more than its scrollback held before the capture started.",
    "cursor_jump": "A polled screen changed so much that lines may be missing.",
    "pane_reset": "The pane was reset or its history cleared while its screen was polled.",
    "link_down": "The connection to the target was down.",
    "disk_full": "The disk was full, or the recorder reached its limit while no daemon was running.",
    "descriptors_exhausted": "The recorder had no free file descriptor for the pane; raise its limit (`ulimit -n`).",
    "log_truncated": "The raw log is shorter than what was already read from it.",
    "tail_uncertain": "A program exited and its last bytes may not have been captured.",
}


class ListGapsArgs(Struct, frozen=True, kw_only=True):
    """Filters on gaps."""

    session: _pane_reference.SessionFilter = None
    target: _pane_reference.TargetFilter = None
    pane: _pane_reference.PaneFilter = None
    since: Annotated[
        str | None, Meta(description="Only gaps since this time: ISO 8601, today, or an age such as 10m.")
    ] = None
    tails: Annotated[
        bool,
        Meta(description="Also list exits of programs whose last bytes may be missing (tail_uncertain)."),
    ] = False


class GapItem(Struct, frozen=True, kw_only=True):
    """``after_epoch`` and ``before_epoch`` are the epochs (periods of continuous capture) around the gap."""

    identity: _pane_reference.PaneIdentity
    cause: GapCause
    start_at: str
    end_at: str | None
    seconds: float | None
    after_epoch: int | None
    before_epoch: int | None
    detail: str


class GapsSummary(Struct, frozen=True, kw_only=True):
    """``by_cause`` counts the listed items; an uncertain tail does not count as a gap."""

    gaps: int
    open: int
    uncertain_tails: int
    by_cause: dict[str, int]


class GapListing(results.BaseListing, frozen=True, kw_only=True):
    """Gaps, oldest first."""

    summary: GapsSummary
    items: tuple[GapItem, ...]


async def run(services: Services, args: ListGapsArgs) -> GapListing:
    now = services.clock.now()
    gaps = await services.history.list_gaps(
        pane=await _pane_reference.resolve_pane_id(services, args.pane),
        since=results.parse_time_filter(args.since, now),
    )
    identities = await _pane_reference.identify_all_panes(services)
    found = tuple(
        item
        for item in (_build_gap_item(gap, identities[gap.pane]) for gap in gaps)
        # Applied here, because the store can filter gaps only by pane.
        if args.session in (None, item.identity.session_name) and args.target in (None, item.identity.target)
    )
    counted = tuple(item for item in found if item.cause != UNCERTAIN_TAIL)
    items = found if args.tails else counted
    filters = results.build_filters(session=args.session, target=args.target, pane=args.pane, since=args.since)
    summary = GapsSummary(
        gaps=len(counted),
        open=sum(item.end_at is None for item in counted),
        uncertain_tails=len(found) - len(counted),
        by_cause=results.count_values(item.cause for item in items),
    )
    return GapListing(generated_at=format_timestamp(now), filters=filters, summary=summary, items=items)


def _build_gap_item(gap: Gap, identity: _pane_reference.PaneIdentity) -> GapItem:
    return results.copy_fields(
        GapItem,
        gap,
        identity=identity,
        start_at=format_timestamp(gap.start_at),
        end_at=results.format_optional_timestamp(gap.end_at),
        seconds=None if gap.end_at is None else compute_seconds_between(gap.start_at, gap.end_at),
        after_epoch=gap.after,
        before_epoch=gap.before,
    )


COLUMNS = (
    TableColumn("PANE", lambda gap: str(gap.identity.id), is_right_aligned=True, style="bold"),
    TableColumn("SESSION", lambda gap: gap.identity.session_name, can_shrink=True, style="cyan", worth=4),
    TableColumn("CAUSE", lambda gap: gap.cause, style="yellow"),
    TableColumn("FROM", lambda gap: gap.start_at, kind="time"),
    TableColumn("TO", lambda gap: gap.end_at or "open", worth=3, kind="time"),
    TableColumn("DURATION", lambda gap: format_age(gap.seconds), is_right_aligned=True),
    TableColumn("DETAIL", lambda gap: gap.detail or GAP_CAUSE_TEXTS[gap.cause], can_shrink=True, min_width=20),
)


def render_text(result: GapListing, options: RenderOptions) -> str:
    summary = result.summary
    tails = f", {pluralize(summary.uncertain_tails, 'uncertain tail')} (`--tails`)" if summary.uncertain_tails else ""
    footer = f"{pluralize(summary.gaps, 'gap')}, {summary.open} open{tails}"
    return results.render_listing(
        COLUMNS, result.items, options, empty=results.format_empty_listing("gap", result), footer=footer
    )


OP = Operation(
    name="list_gaps",
    aliases=("gaps",),
    robot_name="gaps",
    summary="List the gaps: periods in which output was not captured, and why.",
    doc="""Output outside these gaps was captured completely. The gaps reference explains the causes. When a program
exits without our end mark, its last bytes may be missing: that is an uncertain tail, not a gap, and `--tails` lists
it.""",
    run=run,
    render_text=render_text,
    examples=(
        OperationExample("gaps", "list all gaps"),
        OperationExample("gaps --pane 7 --since today", "list today's gaps of one pane"),
    ),
)
