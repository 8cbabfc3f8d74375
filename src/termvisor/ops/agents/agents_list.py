"""The op `agents_list`: the agent programs that the product knows, and what it can do with each."""

from collections.abc import Iterable

from msgspec import Struct

from termvisor.clock import format_timestamp
from termvisor.model.agent.session import AgentView
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes._listing import BaseListing, count_values
from termvisor.ops.render.text import RenderOptions, TableColumn, pluralize, render_table
from termvisor.redaction import redact


class AgentsListArgs(Struct, frozen=True, kw_only=True):
    """Nothing to choose."""


class AgentProgramItem(Struct, frozen=True, kw_only=True):
    """``version`` is that of the contract which its adapter speaks; ``sources`` are where it speaks, the best first;
    ``panes`` are those in which it lives now, ``alive`` the versions of the program there, as far as it told them, and
    ``recorded`` those of which we have recordings. ``failures`` counts what went wrong in the adapter itself.
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
    """How many of each live."""


class AgentProgramListing(BaseListing, frozen=True, kw_only=True):
    """In the order in which they are asked whether a process is theirs."""

    summary: AgentProgramsSummary
    items: tuple[AgentProgramItem, ...]


async def run(services: Services, _args: AgentsListArgs) -> AgentProgramListing:
    views = await services.agents.list_views()
    living = {pane: view.state.agent for pane, view in views.items()}
    items = tuple(
        AgentProgramItem(
            name=kind.name,
            version=".".join(map(str, kind.contract_version)),
            is_enabled=kind.is_enabled,
            capabilities=kind.capabilities,
            sources=kind.sources,
            panes=tuple(pane for pane, name in living.items() if name == kind.name),
            alive=_list_versions(views[pane] for pane, name in living.items() if name == kind.name),
            recorded=kind.recorded,
            failures=kind.failures,
        )
        for kind in await services.agents.list_kinds()
    )
    summary = AgentProgramsSummary(
        known=len(items), enabled=sum(item.is_enabled for item in items), by_agent=count_values(living.values())
    )
    return AgentProgramListing(generated_at=format_timestamp(services.clock.now()), summary=summary, items=items)


def _list_versions(views: Iterable[AgentView]) -> tuple[str, ...]:
    told = {redact(one.session.version) for one in views if one.session is not None}
    return tuple(sorted(told - {""}))


def _get_version_style(item: AgentProgramItem) -> str:
    """A version that nobody recorded is shown in yellow."""
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
    alive = sum(summary.by_agent.values())
    return f"{rows}\n\n{summary.enabled} of {pluralize(summary.known, 'agent')} enabled, {alive} alive"


OP = Operation(
    name="agents_list",
    aliases=("agents",),
    summary="The agent programs that are known, and what can be done with each.",
    doc="""The setting `agents_disabled` switches one off. A version of which there is no recording may be known less
well: `visor doctor` tells it. What an agent is doing is shown by `visor status` and
`visor panes`; its conversations by `visor agents sessions`.""",
    args_type=AgentsListArgs,
    result_type=AgentProgramListing,
    run=run,
    render_text=render_text,
    examples=(OperationExample("agents", "for people"), OperationExample("robot agents list", "as JSON")),
)
