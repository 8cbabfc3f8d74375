"""The operation `agents_list`: list the supported agent programs and their capabilities."""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from termvisor.clock import format_timestamp
from termvisor.model.agent.agent_view import AgentView
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.results import BaseListing, copy_fields, count_values
from termvisor.ops.render.table import TableColumn, render_table
from termvisor.ops.render.text import RenderOptions, pluralize, sanitize
from termvisor.redaction import redact


class AgentsListArgs(Struct, frozen=True, kw_only=True):
    """Takes no arguments."""


class AgentProgramItem(Struct, frozen=True, kw_only=True):
    """``version`` is the adapter's contract version; ``sources`` are its evidence sources, best first; ``panes`` are
    those in which it is running, ``alive`` the program versions found there, and ``recorded`` the versions whose
    states were checked with the real program; without any, ``states`` is `unproven`. ``unseen`` are those of ``alive``
    that are older or newer than every recorded one. ``start`` is the command that starts a conversation, if it is
    described. ``failures`` counts errors raised by the adapter itself.
    """

    name: str
    version: str
    is_enabled: bool
    capabilities: tuple[str, ...]
    sources: tuple[str, ...]
    panes: tuple[int, ...]
    alive: tuple[str, ...]
    recorded: tuple[str, ...]
    unseen: tuple[str, ...] = ()
    failures: int
    states: Literal["proven", "unproven"] = "unproven"
    start: tuple[str, ...] = ()


class AgentProgramsSummary(Struct, frozen=True, kw_only=True):
    known: int
    enabled: int
    by_agent: dict[str, int]
    """Running agents by name."""


class AgentProgramListing(BaseListing, frozen=True, kw_only=True):
    """Agent programs, in the order in which their adapters are tried on a process. ``troubles`` are the problems with
    files that describe agents.
    """

    summary: AgentProgramsSummary
    items: tuple[AgentProgramItem, ...]
    troubles: tuple[str, ...] = ()


async def run(services: Services, _args: AgentsListArgs) -> AgentProgramListing:
    views = await services.agents.list_views()
    agent_by_pane = {pane: view.state.agent for pane, view in views.items()}
    items = tuple(
        copy_fields(
            AgentProgramItem,
            kind,
            version=".".join(map(str, kind.contract_version)),
            panes=tuple(pane for pane, name in agent_by_pane.items() if name == kind.name),
            alive=_list_versions(one for one in views.values() if one.state.agent == kind.name),
            unseen=_list_versions(
                one for one in views.values() if one.state.agent == kind.name and one.program.status == "unseen"
            ),
            states="proven" if kind.recorded else "unproven",
        )
        for kind in await services.agents.list_kinds()
    )
    summary = AgentProgramsSummary(
        known=len(items), enabled=sum(item.is_enabled for item in items), by_agent=count_values(agent_by_pane.values())
    )
    return AgentProgramListing(
        generated_at=format_timestamp(services.clock.now()),
        summary=summary,
        items=items,
        troubles=tuple(map(redact, await services.agents.list_description_problems())),
    )


def _list_versions(views: Iterable[AgentView]) -> tuple[str, ...]:
    versions = {redact(view.session.version) for view in views if view.session is not None}
    return tuple(sorted(versions - {""}))


def _get_version_style(item: AgentProgramItem) -> str:
    """Return the style of an item's versions: yellow if some have no recording."""
    return "yellow" if item.recorded and set(item.alive) - set(item.recorded) else ""


def _format_versions(item: AgentProgramItem) -> str:
    return ", ".join(f"{one} (unseen)" if one in item.unseen else one for one in item.alive) or "-"


COLUMNS = (
    TableColumn("AGENT", lambda item: item.name, style="cyan"),
    TableColumn("ENABLED", lambda item: "yes" if item.is_enabled else "no"),
    TableColumn("PANES", lambda item: " ".join(map(str, item.panes)) or "-", can_shrink=True, style="bold"),
    TableColumn("VERSION", _format_versions, can_shrink=True, choose_style=_get_version_style),
    TableColumn(
        "STATES", lambda item: "proven" if item.states == "proven" else "recognised, states unproven", can_shrink=True
    ),
    TableColumn("CONTRACT", lambda item: item.version, is_right_aligned=True, worth=1),
    TableColumn("FAILURES", lambda item: str(item.failures or "-"), is_right_aligned=True, style="red", worth=4),
    TableColumn("SOURCES", lambda item: " ".join(item.sources), can_shrink=True, min_width=16, worth=3),
    TableColumn("CAPABILITIES", lambda item: " ".join(item.capabilities), can_shrink=True, min_width=16, worth=2),
)


def render_text(result: AgentProgramListing, options: RenderOptions) -> str:
    rows = render_table(COLUMNS, result.items, options)
    if options.is_quiet:
        return rows
    summary = result.summary
    running = sum(summary.by_agent.values())
    errors = "".join(sanitize(f"error: {trouble}") + "\n" for trouble in result.troubles)
    return f"{rows}\n\n{errors}{summary.enabled} of {pluralize(summary.known, 'agent')} enabled, {running} running"


OP = Operation(
    name="agents_list",
    aliases=("agents",),
    summary="List the supported agent programs and their capabilities.",
    doc="""The setting `agents_disabled` disables one. States of a version without a test recording may be less
accurate; `visor doctor` warns about it. Agents without any such version are recognised, but their states are unproven.
`visor agents new` adds an agent. `visor status` and `visor panes` show what agents are doing, `visor agents sessions`
their sessions.""",
    run=run,
    render_text=render_text,
    examples=(OperationExample("agents", "as a table"), OperationExample("robot agents list", "as JSON")),
)
