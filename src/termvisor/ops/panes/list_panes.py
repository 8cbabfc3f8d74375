"""Operation `list_panes`: list panes with their activity, agent and captured output."""

from collections.abc import Sequence
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from termvisor.clock import format_timestamp
from termvisor.model.agent.agent_process import AgentSignature
from termvisor.model.agent.agent_view import AgentView
from termvisor.model.terminal.output import GapCause
from termvisor.model.terminal.pane import ActivityKind, CaptureChannel, PaneActivity, PaneView
from termvisor.ops.agents import _agent_row, _pane_agents
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes import _rollup
from termvisor.ops.panes._pane_reference import PaneFilter, format_pane_path
from termvisor.ops.render import results
from termvisor.ops.render.table import TableColumn
from termvisor.ops.render.text import RenderOptions, format_age, format_bytes, pluralize, sanitize


class ListPanesArgs(_pane_agents.AgentFilterArgs, frozen=True, kw_only=True):
    """Filters on panes."""

    pane: PaneFilter = None
    gone: Annotated[bool, Meta(description="Also list closed panes.")] = False


class ActivityItem(Struct, frozen=True, kw_only=True):
    """Activity of a pane, from shell marks and its output. ``is_proven``: the marks carried our nonce."""

    detail_fields: ClassVar[tuple[str, ...]] = ("since",)

    kind: ActivityKind = "unknown"
    since: str | None = None
    age: float | None = None
    command_line: str | None = None
    last_exit: int | None = None
    is_proven: bool = False


class PaneItem(_agent_row.AgentRow, frozen=True, kw_only=True):
    detail_fields: ClassVar[tuple[str, ...]] = (
        *("reference", "server", "window_name", "window_index", "pane_index", "is_active", "title", "width", "height"),
        *("first_seen_at", "last_output_at", "last_output_age", "bytes_heard", "bytes_per_second", "lines"),
    )

    reference: str
    server: str
    window_name: str
    window_index: int
    pane_index: int
    is_active: bool
    command: str
    cwd: str
    title: str
    width: int
    height: int
    activity: ActivityItem = ActivityItem()
    heard_by: CaptureChannel = "pipe"
    gap_cause: GapCause | None
    """Why output is not captured now, although it was."""
    first_seen_at: str
    last_output_at: str | None
    last_output_age: float | None
    gone_at: str | None
    is_dead: bool
    exit_status: int | None
    exit_signal: int | None
    bytes_heard: int
    bytes_per_second: float
    lines: int
    gaps: int = 0


class PanesSummary(Struct, frozen=True, kw_only=True):
    detail_fields: ClassVar[tuple[str, ...]] = ("by_activity", "by_target")

    panes: int
    by_activity: dict[str, int]
    by_target: dict[str, int]
    gaps: int = 0
    agents: _rollup.AgentTotals


class PaneListing(results.BaseListing, frozen=True, kw_only=True):
    """Panes, by id."""

    summary: PanesSummary
    items: tuple[PaneItem, ...]
    notes: tuple[str, ...] = ()
    """Possible reasons why there are no panes at all."""


async def run(services: Services, args: ListPanesArgs) -> PaneListing:
    filters = _pane_agents.collect_agent_filters(args, pane=args.pane, gone=args.gone)
    members = await _pane_agents.select_panes_with_agents(services, filters, gone=args.gone)
    panes, now = [member.pane for member in members], services.clock.now()
    summary = PanesSummary(
        panes=len(panes),
        by_activity=results.count_values(pane.activity.kind for pane in panes),
        by_target=results.count_values(pane.instance.server.target for pane in panes),
        gaps=sum(pane.gaps for pane in panes),
        agents=_rollup.AgentTotals(**_rollup.sum_agents(members)),
    )
    # Signatures explain why no agent was recognized in a pane.
    signatures = await services.agents.list_signatures()
    items = tuple(build_pane_item(m.pane, m.view, now, signatures.get(m.pane.id)) for m in members)
    # An empty list is rarely what the user expects, so name the likely causes.
    notes = () if items or filters else await _find_empty_reasons(services)
    return PaneListing(generated_at=format_timestamp(now), filters=filters, summary=summary, items=items, notes=notes)


async def _find_empty_reasons(services: Services) -> tuple[str, ...]:
    """Return reasons why there are no panes: alerts, and tmux servers that do not respond."""
    health = await services.maintenance.get_health()
    unresponsive = [f"No tmux server responds on {server.socket}" for server in health.servers if not server.mux_ok]
    return (*health.alerts, *unresponsive)


def build_pane_item(
    pane: PaneView, view: AgentView | None, now: int, signature: AgentSignature | None = None
) -> PaneItem:
    facts = pane.facts
    return PaneItem(
        **_agent_row.build_row_fields(pane, view, now, signature),
        **results.copy_values(
            facts, "window_name", "window_index", "pane_index", "command", "cwd", "title", "width", "height"
        ),
        **results.copy_values(pane, "heard_by", "gap_cause", "bytes_heard", "lines", "gaps"),
        reference=format_pane_path(pane),
        server=pane.instance.server.socket,
        is_active=facts.active,
        activity=_build_activity_item(pane.activity, now),
        first_seen_at=format_timestamp(pane.first_seen_at),
        last_output_at=results.format_optional_timestamp(pane.last_output_at),
        last_output_age=results.compute_age(pane.last_output_at, now),
        gone_at=results.format_optional_timestamp(pane.gone_at),
        is_dead=facts.dead,
        exit_status=facts.dead_status,
        exit_signal=facts.dead_signal,
        bytes_per_second=round(pane.bytes_per_second, 1),
    )


def _build_activity_item(activity: PaneActivity, now: int) -> ActivityItem:
    since = results.format_optional_timestamp(activity.since)
    return results.copy_fields(ActivityItem, activity, since=since, age=results.compute_age(activity.since, now))


def format_activity(pane: PaneItem) -> str:
    """Format the activity: `! waiting approval`, `prompt (1)`, `$ make test`, `alt screen`, `closed`."""
    activity = pane.activity
    # The state of an agent is more informative than the activity of its pane.
    if pane.state is not None:
        return _agent_row.format_state_cell(pane)
    if pane.gone_at is not None:
        return "closed"
    if pane.is_dead:
        return f"dead ({'signal ' + str(pane.exit_signal) if pane.exit_signal else pane.exit_status})"
    if activity.kind == "command":
        return f"$ {activity.command_line}" if activity.command_line else "command"
    if activity.kind == "prompt" and activity.last_exit:
        return f"prompt ({activity.last_exit})"
    return activity.kind.replace("_", " ")


def format_gaps(pane: PaneItem) -> str:
    """Format the number of gaps, with the cause of one that is open: `2 (disk_full)`."""
    return f"{max(1, pane.gaps)} ({pane.gap_cause})" if pane.gap_cause else str(pane.gaps or "-")


COLUMNS = (
    TableColumn("ID", lambda pane: str(pane.identity.id), is_right_aligned=True, style="bold"),
    TableColumn("SESSION", lambda pane: pane.identity.session_name, can_shrink=True, style="cyan", worth=7),
    TableColumn("WINDOW", lambda pane: f"{pane.window_index}:{pane.window_name}", can_shrink=True, worth=7),
    TableColumn("PANE", lambda pane: pane.identity.pane_id, worth=2),
    _agent_row.AGENT_COLUMN,
    TableColumn(
        "STATE",
        format_activity,
        can_shrink=True,
        choose_style=_agent_row.get_state_style,
        min_width=_agent_row.MIN_STATE_WIDTH,
    ),
    TableColumn(
        "AGE",
        lambda pane: format_age(pane.activity.age if pane.state is None else pane.state_age),
        is_right_aligned=True,
    ),
    TableColumn("TITLE", lambda pane: pane.agent_title or pane.title, can_shrink=True, min_width=20, worth=8),
    TableColumn("COMMAND", lambda pane: pane.command, can_shrink=True, worth=6),
    *_agent_row.USAGE_COLUMNS,
    TableColumn("CWD", lambda pane: pane.cwd, can_shrink=True, style="dim", min_width=12, worth=5, kind="folder"),
    TableColumn("OUTPUT", lambda pane: format_age(pane.last_output_age), is_right_aligned=True, worth=3),
    TableColumn("GAPS", format_gaps, is_right_aligned=True, style="yellow", worth=2),
    TableColumn("BYTES", lambda pane: format_bytes(pane.bytes_heard), is_right_aligned=True, worth=1),
    TableColumn("RATE", lambda pane: f"{format_bytes(pane.bytes_per_second)}/s", is_right_aligned=True, worth=1),
)

_AGENT_COLUMNS = (_agent_row.AGENT_COLUMN, *_agent_row.USAGE_COLUMNS)


def choose_columns(items: Sequence[PaneItem]) -> list[TableColumn]:
    """Return the columns, without agent columns that would be empty."""

    def has_values(column: TableColumn) -> bool:
        return any(column.render_cell(item) not in ("", "-") for item in items)

    return [column for column in COLUMNS if column not in _AGENT_COLUMNS or has_values(column)]


def render_text(result: PaneListing, options: RenderOptions) -> str:
    empty = f"No panes. {_render_notes(result, options)}`visor demo` starts example panes."
    return results.render_listing(
        choose_columns(result.items),
        result.items,
        options,
        empty=results.format_empty_listing("pane", result) if result.filters else empty,
        footer=render_summary(result.summary),
    )


def render_summary(summary: PanesSummary) -> str:
    agents = summary.agents
    parts = [pluralize(summary.panes, "pane"), pluralize(summary.gaps, "gap")]
    if agents.agents:
        parts.append(f"{pluralize(agents.agents, 'agent')} ({_rollup.format_counts(agents.by_state)})")
    if agents.needs_action:
        parts.append(f"{agents.needs_action} need{'s' * (agents.needs_action == 1)} action: `visor next`")
    return ", ".join(parts)


def _render_notes(listing: PaneListing, options: RenderOptions) -> str:
    return "".join(options.paint("yellow", f"{sanitize(note)}.") + " " for note in listing.notes)


OP = Operation(
    name="list_panes",
    aliases=("panes",),
    robot_name="state",
    summary="List panes with their state, agent and output.",
    doc="""Lists the panes of all watched multiplexer servers. The id in the first column is never reused and is the
shortest reference to a pane.

A pane with an agent shows the agent's `state`, its age, and a `!` if a person is needed; `visor explain` shows the
evidence. A state that is not known is `unknown` with a `reason`, never `idle`. A pane without an agent shows its
`activity`, which is derived from shell marks and the output stream, never from text that looks like a prompt.""",
    run=run,
    shows_pane_text=True,
    render_text=render_text,
    examples=(
        OperationExample("list-panes", "list all panes"),
        OperationExample("list-panes --session work", "list the panes of one session"),
        OperationExample("panes --needs-action", "list the agents that need you"),
        OperationExample("robot state --state waiting,error --agent codex", "filter by state and agent, as JSON"),
        OperationExample("robot state --pane 7", "show one pane, as JSON"),
    ),
)
