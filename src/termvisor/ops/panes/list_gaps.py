"""The op `list_gaps`: what could not be captured, where and why."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import iso
from termvisor.model.terminal.output import Gap, GapCause
from termvisor.ops.api.envelope import seconds_between
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.panes._listing import (
    Listing,
    PaneFilter,
    PaneIdentity,
    SessionFilter,
    TargetFilter,
    counts,
    filters,
    identities,
    instant,
    moment,
    named_id,
    nobody,
)
from termvisor.ops.render.text import Column, Look, age, counted, table

CAUSES: dict[GapCause, str] = {
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


class ListGaps(Struct, frozen=True, kw_only=True):
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


class GapListing(Listing, frozen=True, kw_only=True):
    """Gaps, oldest first."""

    summary: GapsSummary
    items: tuple[GapItem, ...]


async def run(world: World, wanted: ListGaps) -> GapListing:
    now = world.clock.now()
    gaps = await world.history.gaps(
        pane=await named_id(world, wanted.pane),
        since=moment(wanted.since, now),
    )
    who = await identities(world)
    items = tuple(
        item
        for item in (_item(gap, who.get(gap.pane) or nobody(gap.pane)) for gap in gaps)
        if wanted.session in (None, item.identity.session_name) and wanted.target in (None, item.identity.target)
    )
    given = filters(session=wanted.session, target=wanted.target, pane=wanted.pane, since=wanted.since)
    summary = GapsSummary(
        gaps=len(items),
        open=sum(item.end_at is None for item in items),
        by_cause=counts(item.cause for item in items),
    )
    return GapListing(generated_at=iso(now), filters=given, summary=summary, items=items)


def _item(gap: Gap, who: PaneIdentity) -> GapItem:
    return GapItem(
        identity=who,
        cause=gap.cause,
        start_at=iso(gap.start_at),
        end_at=instant(gap.end_at),
        seconds=None if gap.end_at is None else seconds_between(gap.start_at, gap.end_at),
        after_epoch=gap.after,
        before_epoch=gap.before,
        detail=gap.detail,
    )


COLUMNS = (
    Column("PANE", lambda gap: str(gap.identity.id), is_right=True, style="bold"),
    Column("SESSION", lambda gap: gap.identity.session_name, may_shrink=True, style="cyan"),
    Column("CAUSE", lambda gap: gap.cause, style="yellow"),
    Column("FROM", lambda gap: gap.start_at),
    Column("TO", lambda gap: gap.end_at or "still open"),
    Column("LENGTH", lambda gap: age(gap.seconds), is_right=True),
    Column("WHAT", lambda gap: gap.detail or CAUSES[gap.cause], may_shrink=True),
)


def plain(listing: GapListing, look: Look) -> str:
    rows = table(COLUMNS, listing.items, look)
    if look.is_quiet:
        return rows
    told = f"{counted(listing.summary.gaps, 'gap')}, {listing.summary.open} open"
    return f"{rows}\n\n{told}" if listing.items else "No gaps: everything was captured."


OP = Op(
    name="list_gaps",
    aliases=("gaps",),
    robot="gaps",
    summary="What could not be captured: where, when and why.",
    doc="Everything outside these gaps was captured exactly. The causes are a closed list, in the gaps reference.",
    Input=ListGaps,
    Output=GapListing,
    run=run,
    plain=plain,
    examples=(Example("gaps", "all gaps"), Example("gaps --pane 7 --since today", "today's gaps of one pane")),
)
