"""The op `events_mutes`: what counts as handled at once."""

from msgspec import Struct

from termvisor.clock import format_timestamp
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.events.events_mute import MuteItem, build_mute_item
from termvisor.ops.panes._listing import BaseListing
from termvisor.ops.render.text import RenderOptions, TableColumn, render_table


class EventsMutesArgs(Struct, frozen=True, kw_only=True):
    """All that hold."""


class MutesSummary(Struct, frozen=True, kw_only=True):
    mutes: int


class MuteListing(BaseListing, frozen=True, kw_only=True):
    """Mutes that hold, oldest first."""

    summary: MutesSummary
    items: tuple[MuteItem, ...]


async def run(services: Services, _args: EventsMutesArgs) -> MuteListing:
    items = tuple(build_mute_item(one) for one in await services.detections.mutes.list())
    return MuteListing(
        generated_at=format_timestamp(services.clock.now()), summary=MutesSummary(mutes=len(items)), items=items
    )


COLUMNS = (
    TableColumn("ID", lambda one: str(one.id), is_right_aligned=True, style="bold"),
    TableColumn("WHAT", lambda one: one.what, can_shrink=True),
    TableColumn("PANE", lambda one: "all" if one.pane is None else str(one.pane), is_right_aligned=True),
    TableColumn("UNTIL", lambda one: one.until or "-", style="dim"),
    TableColumn("BY", lambda one: one.by, can_shrink=True),
)


def render_text(result: MuteListing, options: RenderOptions) -> str:
    rows = render_table(COLUMNS, result.items, options)
    return rows if rows or options.is_quiet else "Nothing is muted."


OP = Operation(
    name="events_mutes",
    summary="What is muted.",
    doc="`events mute` begins one, `events unmute` ends it; one with a time ends by itself.",
    args_type=EventsMutesArgs,
    result_type=MuteListing,
    run=run,
    render_text=render_text,
    examples=(OperationExample("events mutes", "all that hold"),),
)
