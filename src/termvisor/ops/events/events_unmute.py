"""The op `events_unmute`: end a mute."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import EventNotFound
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.render.text import RenderOptions


class EventsUnmuteArgs(Struct, frozen=True, kw_only=True):
    """Which one."""

    id: Annotated[int, Meta(description="Its number in `visor events mutes`.", extra={"positional": "one"}, ge=1)]


class EventsUnmuteResult(Struct, frozen=True, kw_only=True):
    mute_id: int


async def run(services: ActingServices, args: EventsUnmuteArgs) -> EventsUnmuteResult:
    if not await services.detections.mutes.end_mute(args.id):
        raise EventNotFound(f"there is no mute {args.id}", hint="`visor events mutes` lists them.")
    return EventsUnmuteResult(mute_id=args.id)


def render_text(result: EventsUnmuteResult, options: RenderOptions) -> str:
    return f"mute {result.mute_id} has ended"


OP = Operation(
    name="events_unmute",
    summary="End a mute.",
    doc="What is found from now on counts as unhandled again; what was found meanwhile stays handled.",
    args_type=EventsUnmuteArgs,
    result_type=EventsUnmuteResult,
    run=run,
    render_text=render_text,
    effect="change",
    exit_statuses=((4, "There is no such mute."),),
    examples=(OperationExample("events unmute 3", "be told again"),),
)
