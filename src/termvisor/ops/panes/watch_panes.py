"""The operation `watch_panes`: stream compact rows of all panes, then only those that change.

The rows are built once for all viewers. A viewer that reads slowly gets the newest rows, not every one in between.
"""

from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any

from msgspec import Meta, Struct

from termvisor.bus import wait_for_update
from termvisor.clock import format_timestamp
from termvisor.model.event import Event
from termvisor.ops.agents._agent_row import STATE_STYLES, format_state
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes._pane_brief import PaneBrief, PaneBriefs, build_briefs, find_changed
from termvisor.ops.render.text import RenderOptions, pluralize, sanitize

BUILD_INTERVAL_S = 0.25
"""The rows of all panes are built at most four times a second, however many viewers there are."""
_TICK_S = 1.0
"""Output changes at most the activity of a pane, so it is looked at once a second."""
_FULL_TICKS = 5
"""After so many quiet ticks the rows are built anyway: titles and folders change without an event."""
_ROW_EVENTS = ("server_", "pane_", "agent_", "state_")


class WatchPanesArgs(Struct, frozen=True, kw_only=True):
    """Choose between the stream and one snapshot."""

    once: Annotated[bool, Meta(description="Print the current rows, then exit.")] = False


class PaneRowsUpdate(Struct, frozen=True, kw_only=True):
    """``panes`` are all rows in the first item of a stream (``is_snapshot``), later those that are new or changed.
    ``gone`` are the ids of panes that were closed.
    """

    is_snapshot: bool = False
    at: str
    panes: tuple[PaneBrief, ...] = ()
    gone: tuple[int, ...] = ()


async def run(services: Services, args: WatchPanesArgs) -> AsyncIterator[PaneRowsUpdate]:
    updates, known = services.updates, PaneBriefs()
    has_output = False

    def note_output(_pane: Any) -> bool:
        nonlocal has_output
        has_output = True
        return False  # only that there was output counts, so nothing is queued

    with (
        updates.shared_results.open("panes", BUILD_INTERVAL_S) as shared,
        updates.subscribe_events() as events,
        updates.subscribe_output() as output,
        services.gate.approvals.subscribe() as approvals,
    ):
        events.is_wanted, output.is_wanted = _is_row_event, note_output
        build = _build_with(services)
        yield _build_update(services, known, known := await shared.fetch(build), is_snapshot=True)
        quiet_ticks = 0
        while not args.once:
            changes = await wait_for_update(services.clock, _TICK_S, events, approvals)
            quiet_ticks += 1
            if not (changes or has_output or quiet_ticks >= _FULL_TICKS):
                continue
            # Cleared before the rows are built: what comes meanwhile is built next time.
            has_output, quiet_ticks = False, 0
            events.drain()
            approvals.drain()
            update = _build_update(services, known, known := await shared.fetch(build))
            if update.panes or update.gone:
                yield update


def _build_with(services: Services) -> Callable[[Any], Any]:
    return lambda known: build_briefs(services, known)


def _is_row_event(event: Event) -> bool:
    return event.kind.startswith(_ROW_EVENTS)


def _build_update(
    services: Services, before: PaneBriefs, after: PaneBriefs, *, is_snapshot: bool = False
) -> PaneRowsUpdate:
    return PaneRowsUpdate(
        is_snapshot=is_snapshot,
        at=format_timestamp(services.clock.now()),
        panes=find_changed(before, after),
        gone=tuple(sorted(before.keys() - after.keys())),
    )


def render_text(result: PaneRowsUpdate, options: RenderOptions) -> str:
    time = options.paint("dim", result.at[11:19])
    head = [f"{time}  {pluralize(len(result.panes), 'pane')}"] if result.is_snapshot else []
    rows = [f"{time}  {brief.id:>4}  {_format_brief(brief, options)}" for brief in result.panes]
    return "\n".join([*head, *rows, *(f"{time}  {pane:>4}  closed" for pane in result.gone)])


def _format_brief(brief: PaneBrief, options: RenderOptions) -> str:
    place = f"{brief.session}:{brief.window}"
    if brief.state is None:
        what = f"$ {brief.command_line}" if brief.command_line else brief.activity.replace("_", " ")
        return sanitize(f"{place}  {what}")
    state = ", ".join([format_state(brief.state, brief.reason), *brief.flags])
    mark = "! " if brief.needs_action else ""
    text = options.paint(STATE_STYLES[brief.state], sanitize(mark + state))
    return f"{sanitize(place)}  {sanitize(brief.agent or '')}  {text}  {options.paint('dim', sanitize(brief.title))}"


OP = Operation(
    name="watch_panes",
    robot_name="watch-panes",
    summary="Stream compact pane rows.",
    doc="""The first item has a row for each pane (`is_snapshot`), each later one only the rows that changed and the ids
of panes that were closed. Rows have times instead of ages, so a quiet pane costs nothing. However many viewers there
are, the daemon builds the rows once for all of them. A viewer that reads slowly gets the newest rows; one that reads
nothing for 30 seconds is disconnected, and starts with all rows when it comes back.""",
    run=run,
    render_text=render_text,
    is_stream=True,
    is_live=True,
    shows_pane_text=True,
    examples=(
        OperationExample("watch-panes", "one line per changed pane"),
        OperationExample("robot watch-panes", "the same as one JSON object per change"),
        OperationExample("robot watch-panes --once", "compact rows of all panes"),
    ),
)
