"""The operation `timeline`: the states of each agent over a span of time, from the stored events."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from termvisor.clock import NS, format_timestamp
from termvisor.errors import BadRequest
from termvisor.model.agent.agent_view import AgentView
from termvisor.model.agent.state import PRECEDENCE, StateName
from termvisor.model.event import Event, Scalar
from termvisor.model.ids import PaneId
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes._pane_reference import PaneFilter, PaneIdentity, identify_all_panes, resolve_pane_id
from termvisor.ops.render.results import BaseListing, build_filters, parse_time_filter
from termvisor.ops.render.table import TableColumn, render_table
from termvisor.ops.render.text import RenderOptions, format_age, pluralize

_KINDS = ("state_changed", "agent_began", "agent_ended")
_MAX_EVENTS = 20_000


class TimelineArgs(Struct, frozen=True, kw_only=True):
    """The span, and optionally one pane."""

    since: Annotated[str, Meta(description="Start of the span: ISO 8601, today, or an age such as 10m.")] = "6h"
    until: Annotated[str | None, Meta(description="End of the span; default: now.")] = None
    pane: PaneFilter = None


class StateSpan(Struct, frozen=True, kw_only=True):
    """The agent was in ``state`` from ``start`` to ``end``."""

    start: str
    end: str
    seconds: float
    state: StateName


class PaneTimeline(Struct, frozen=True, kw_only=True):
    """``by_state`` are the seconds in each state. Nothing is known of the time between two spans."""

    identity: PaneIdentity
    agent: str
    spans: tuple[StateSpan, ...]
    by_state: dict[str, float]


class TimelineSummary(Struct, frozen=True, kw_only=True):
    """``is_complete`` is false if the span has more changes than were read; then its start is missing."""

    panes: int
    by_state: dict[str, float]
    is_complete: bool = True


class TimelineListing(BaseListing, frozen=True, kw_only=True):
    """Panes with an agent in the span, by id. ``start`` and ``end`` are those of the span."""

    detail_fields: ClassVar[tuple[str, ...]] = ("generated_at",)

    start: str
    end: str
    summary: TimelineSummary
    items: tuple[PaneTimeline, ...]


class _Change(Struct, frozen=True):
    """``state`` is None when the agent has ended; ``before`` is None if it is not known."""

    at: int
    before: StateName | None
    state: StateName | None
    agent: str


async def run(services: Services, args: TimelineArgs) -> TimelineListing:
    now = services.clock.now()
    start, end = parse_time_filter(args.since, now) or 0, parse_time_filter(args.until, now) or now
    if start >= end:
        raise BadRequest("the span ends before it starts", hint="`--since 6h` starts six hours ago.")
    pane = await resolve_pane_id(services, args.pane)
    events = [
        event
        for kind in _KINDS
        for event in await services.history.list_events(pane=pane, since=start, kind=kind, limit=_MAX_EVENTS)
    ]
    views, identities = await services.agents.list_views(), await identify_all_panes(services)
    changes = _collect_changes(events)
    panes = sorted({*changes, *(one for one in views if pane in (None, one))})
    built = (_build_item(identities[one], changes[one], views.get(one), (start, end)) for one in panes)
    items = tuple(item for item in built if item.spans)
    return TimelineListing(
        generated_at=format_timestamp(now),
        filters=build_filters(since=args.since, until=args.until, pane=args.pane),
        start=format_timestamp(start),
        end=format_timestamp(end),
        summary=TimelineSummary(
            panes=len(items),
            by_state=_sum_states(span for item in items for span in item.spans),
            is_complete=len(events) < _MAX_EVENTS,
        ),
        items=items,
    )


def _collect_changes(events: Iterable[Event]) -> dict[PaneId, list[_Change]]:
    changes: dict[PaneId, list[_Change]] = defaultdict(list)
    for event in sorted(events, key=lambda event: event.id):
        if event.pane is not None:
            changes[event.pane].append(_parse_change(event))
    return changes


def _parse_change(event: Event) -> _Change:
    agent = str(event.data.get("agent", ""))
    if event.kind == "state_changed":
        return _Change(event.at, _parse_state(event.data.get("before")), _parse_state(event.data.get("after")), agent)
    return _Change(event.at, None, "unknown" if event.kind == "agent_began" else None, agent)


def _parse_state(value: Scalar) -> StateName | None:
    return next((state for state in PRECEDENCE if state == value), None)


def _build_item(
    identity: PaneIdentity, changes: Sequence[_Change], view: AgentView | None, span: tuple[int, int]
) -> PaneTimeline:
    spans = tuple(_build_spans(changes, view, *span))
    agents = [change.agent for change in changes if change.agent]
    return PaneTimeline(
        identity=identity,
        agent=view.state.agent if view is not None else agents[-1] if agents else "",
        spans=spans,
        by_state=_sum_states(spans),
    )


def _build_spans(changes: Sequence[_Change], view: AgentView | None, start: int, end: int) -> list[StateSpan]:
    """Return the spans. Before the first change its state before holds; without a change, the current state."""
    if changes:
        current, at = changes[0].before, start
    else:
        current, at = (view.state.value, max(start, view.began_at)) if view is not None else (None, start)
    spans: list[tuple[int, int, StateName]] = []
    for change in changes:
        if change.at > end:
            break
        if current is not None and change.at > at:
            spans.append((at, change.at, current))
        current, at = change.state, max(at, change.at)
    if current is not None and end > at:
        spans.append((at, end, current))
    return [_build_span(*span) for span in spans]


def _build_span(start: int, end: int, state: StateName) -> StateSpan:
    seconds = round((end - start) / NS, 3)
    return StateSpan(start=format_timestamp(start), end=format_timestamp(end), seconds=seconds, state=state)


def _sum_states(spans: Iterable[StateSpan]) -> dict[str, float]:
    sums: dict[str, float] = defaultdict(float)
    for span in spans:
        sums[span.state] += span.seconds
    return {state: round(sums[state], 3) for state in PRECEDENCE if state in sums}


def render_text(result: TimelineListing, options: RenderOptions) -> str:
    if not result.items:
        return "No agents in this span."
    columns = (
        TableColumn("PANE", lambda item: str(item.identity.id), is_right_aligned=True, style="bold"),
        TableColumn("AGENT", lambda item: item.agent or "-"),
        TableColumn("SESSION", lambda item: item.identity.session_name or "-", can_shrink=True, style="cyan", worth=3),
        TableColumn("STATES", _format_states, can_shrink=True, min_width=20),
        TableColumn("CHANGES", lambda item: str(len(item.spans) - 1), is_right_aligned=True, worth=1),
    )
    rows = render_table(columns, result.items, options)
    if options.is_quiet:
        return rows
    note = "" if result.summary.is_complete else "\nThe span has more changes than were read; shorten it."
    total = ", ".join(
        f"{name.replace('_', ' ')} {format_age(value)}" for name, value in result.summary.by_state.items()
    )
    return f"{rows}\n\n{pluralize(result.summary.panes, 'pane')} with agents: {total}{note}"


def _format_states(item: PaneTimeline) -> str:
    longest = sorted(item.by_state.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{state.replace('_', ' ')} {format_age(seconds)}" for state, seconds in longest)


OP = Operation(
    name="timeline",
    robot_name="timeline",
    summary="Show agent states over time.",
    doc="""Each pane that had an agent in the span, with the seconds that the agent spent in each state, and in JSON the
start, end and state of each stretch. Times are those at which a state was stored. A pane whose agent did not change in
the span has one stretch, its current state.""",
    run=run,
    render_text=render_text,
    examples=(
        OperationExample("timeline", "the last six hours"),
        OperationExample("timeline --since today --pane 7", "one pane, since midnight"),
        OperationExample("robot timeline --since 1h", "every stretch of the last hour, as JSON"),
    ),
)
