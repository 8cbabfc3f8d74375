"""The operation `events_mutes`: list active mutes."""

from msgspec import Struct

from termvisor.clock import format_timestamp
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.events.events_mute import MuteItem, build_mute_item
from termvisor.ops.render.results import BaseListing, render_listing
from termvisor.ops.render.table import TableColumn


class EventsMutesArgs(Struct, frozen=True, kw_only=True):
    """Takes no arguments."""


class MutesSummary(Struct, frozen=True, kw_only=True):
    mutes: int


class MuteListing(BaseListing, frozen=True, kw_only=True):
    """Active mutes, oldest first."""

    summary: MutesSummary
    items: tuple[MuteItem, ...]


async def run(services: Services, _args: EventsMutesArgs) -> MuteListing:
    items = tuple(build_mute_item(mute) for mute in await services.detections.mutes.list())
    return MuteListing(
        generated_at=format_timestamp(services.clock.now()), summary=MutesSummary(mutes=len(items)), items=items
    )


COLUMNS = (
    TableColumn("ID", lambda item: str(item.id), is_right_aligned=True, style="bold"),
    TableColumn("WHAT", lambda item: item.what, can_shrink=True),
    TableColumn("PANE", lambda item: "all" if item.pane is None else str(item.pane), is_right_aligned=True),
    TableColumn("UNTIL", lambda item: item.until or "-", style="dim", kind="time"),
    TableColumn("BY", lambda item: item.by, can_shrink=True, worth=1),
)

OP = Operation(
    name="events_mutes",
    summary="List active mutes.",
    doc="`events mute` adds a mute, `events unmute` removes it; one with a duration expires.",
    run=run,
    render_text=lambda result, options: render_listing(COLUMNS, result.items, options, empty="Nothing is muted."),
    examples=(OperationExample("events mutes", "all active mutes"),),
)
