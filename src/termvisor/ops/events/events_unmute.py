"""The operation `events_unmute`: remove a mute."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import ObjectNotFound
from termvisor.model.action.action import WriteConfig
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services


class EventsUnmuteArgs(Struct, frozen=True, kw_only=True):
    """Choose the mute."""

    id: Annotated[int, Meta(description="The mute's ID in `visor events mutes`.", extra={"positional": "one"}, ge=1)]


class EventsUnmuteResult(Struct, frozen=True, kw_only=True):
    mute_id: int


async def run(services: Services, args: EventsUnmuteArgs) -> EventsUnmuteResult:
    if not await services.detections.mutes.end_mute(args.id):
        raise ObjectNotFound(f"mute {args.id} not found", hint="`visor events mutes` lists them.")
    return EventsUnmuteResult(mute_id=args.id)


OP = Operation(
    name="events_unmute",
    summary="Remove a mute.",
    doc="New detections are unhandled again; those stored meanwhile stay handled.",
    run=run,
    render_text=lambda result, _options: f"mute {result.mute_id} removed",
    effect="change",
    list_changes=lambda _services, args: (WriteConfig(change="unmute", name=str(args.id)),),
    exit_statuses=((4, "Mute not found."),),
    examples=(OperationExample("events unmute 3", "remove mute 3"),),
)
