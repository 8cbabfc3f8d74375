"""The operation `agents_list`: list the supported agent programs and their capabilities."""

from collections.abc import Iterable

from msgspec import Struct

from termvisor.clock import format_timestamp
from termvisor.model.agent.agent_view import AgentView
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.results import BaseListing, copy_fields, count_values
from termvisor.ops.render.text import RenderOptions, TableColumn, pluralize, render_table
from termvisor.redaction import redact


class AgentsListArgs(Struct, frozen=True, kw_only=True):
    """Takes no arguments."""


class AgentProgramItem(Struct, frozen=True, kw_only=True):
    """``version`` is the adapter's contract version; ``sources`` are its evidence sources, best first; ``panes`` are
    those in which it is running, ``alive`` the program versions reported there, and ``recorded`` the versions covered
    by test recordings. ``failures`` counts errors raised by the adapter itself.
    """

    name: str
    version: str
    is_enabled: bool
    capabilities: tuple[str, ...]
    sources: tuple[str, ...]
    panes: tuple[int, ...]
    alive: tuple[str, ...]
    recorded: tuple[str, ...]
    failures: int


class AgentProgramsSummary(Struct, frozen=True, kw_only=True):
    known: int
    enabled: int
    by_agent: dict[str, int]
    """Running agents by name."""


class AgentProgramListing(BaseListing, frozen=True, kw_only=True):
    """Agent programs, in the order in which their adapters are tried on a process."""

    summary: AgentProgramsSummary
    items: tuple[AgentProgramItem, ...]


async def run(services: Services, _args: AgentsListArgs) -> AgentProgramListing:
    views = await services.agents.list_views()
    agent_by_pane = {pane: view.state.agent for pane, view in views.items()}
    items = tuple(
        copy_fields(
            AgentProgramItem,
            kind,
            version=".".join(map(str, kind.contract_version)),
            panes=tuple(pane for pane, name in agent_by_pane.items() if name == kind.name),
            alive=_list_versions(views[pane] for pane, name in agent_by_pane.items() if name == kind.name),
        )
        for kind in await services.agents.list_kinds()
    )
    summary = AgentProgramsSummary(
        known=len(items), enabled=sum(item.is_enabled for item in items), by_agent=count_values(agent_by_pane.values())
    )
    return AgentProgramListing(generated_at=format_timestamp(services.clock.now()), summary=summary, items=items)


def _list_versions(views: Iterable[AgentView]) -> tuple[str, ...]:
    versions = {redact(view.session.version) for view in views if view.session is not None}
    return tuple(sorted(versions - {""}))


def _get_version_style(item: AgentProgramItem) -> str:
    """Return the style of an item's versions: yellow if some have no recording."""
    return "yellow" if item.recorded and set(item.alive) - set(item.recorded) else ""


COLUMNS = (
    TableColumn("AGENT", lambda item: item.name, style="cyan"),
    TableColumn("ENABLED", lambda item: "yes" if item.is_enabled else "no"),
    TableColumn("PANES", lambda item: " ".join(map(str, item.panes)) or "-", can_shrink=True, style="bold"),
    TableColumn("VERSION", lambda item: " ".join(item.alive) or "-", can_shrink=True, choose_style=_get_version_style),
    TableColumn("CONTRACT", lambda item: item.version, is_right_aligned=True),
    TableColumn("FAILURES", lambda item: str(item.failures or "-"), is_right_aligned=True, style="red"),
    TableColumn("SOURCES", lambda item: " ".join(item.sources), can_shrink=True),
    TableColumn("CAPABILITIES", lambda item: " ".join(item.capabilities), can_shrink=True),
)


def render_text(result: AgentProgramListing, options: RenderOptions) -> str:
    rows = render_table(COLUMNS, result.items, options)
    if options.is_quiet:
        return rows
    summary = result.summary
    running = sum(summary.by_agent.values())
    return f"{rows}\n\n{summary.enabled} of {pluralize(summary.known, 'agent')} enabled, {running} running"


OP = Operation(
    name="agents_list",
    aliases=("agents",),
    summary="List the supported agent programs and their capabilities.",
    doc="""The setting `agents_disabled` disables one. States of a version without a test recording may be less
accurate; `visor doctor` warns about it. `visor status` and `visor panes` show what agents are doing, `visor agents
sessions` their sessions.""",
    run=run,
    render_text=render_text,
    examples=(OperationExample("agents", "as a table"), OperationExample("robot agents list", "as JSON")),
)
