"""The operation `list_sources`: list the evidence sources of agents and their health."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from termvisor.clock import format_timestamp
from termvisor.model.agent.evidence import SourceHealth
from termvisor.ops.agents._pane_agents import check_agent_name
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render import results
from termvisor.ops.render.table import TableColumn
from termvisor.ops.render.text import RenderOptions, format_age, pluralize
from termvisor.redaction import redact

SourceStatus = Literal["well", "quiet", "absent", "down"]
_STATUS_STYLES: dict[SourceStatus, str] = {"well": "green", "quiet": "", "absent": "dim", "down": "red"}


class ListSourcesArgs(Struct, frozen=True, kw_only=True):
    """Choose the sources to list."""

    agent: Annotated[str | None, Meta(description="Only sources of this agent.")] = None
    status: Annotated[SourceStatus | None, Meta(description="Only sources with this status.")] = None


class SourceItem(Struct, frozen=True, kw_only=True):
    """``status``: `well` delivers signals, `quiet` has none that are new, `absent` does not exist (yet), `down` cannot
    be read.

    ``heard_at`` is the time of its last signal. ``lag`` is seconds from the time that the agent reported to ours.
    ``dropped`` counts signals that changed nothing.
    """

    agent: str
    source: str
    where: str
    status: SourceStatus
    detail: str
    heard_at: str | None
    heard_age: float | None
    records: int = 0
    signals: int = 0
    dropped: int = 0
    lag: float | None


class SourcesSummary(Struct, frozen=True, kw_only=True):
    sources: int
    by_status: dict[str, int]
    by_agent: dict[str, int]


class SourceListing(results.BaseListing, frozen=True, kw_only=True):
    """Sources, by agent."""

    summary: SourcesSummary
    items: tuple[SourceItem, ...]


async def run(services: Services, args: ListSourcesArgs) -> SourceListing:
    now = services.clock.now()
    if args.agent is not None:
        await check_agent_name(services, args.agent)
    # The order in which sources were found means nothing to users.
    sources = sorted(
        await services.agents.list_sources(), key=lambda source: (source.agent, source.source, source.where)
    )
    items = tuple(
        build_source_item(source, now)
        for source in sources
        if args.agent in (None, source.agent) and args.status in (None, source.status)
    )
    summary = SourcesSummary(
        sources=len(items),
        by_status=results.count_values(item.status for item in items),
        by_agent=results.count_values(item.agent for item in items),
    )
    filters = results.build_filters(agent=args.agent, status=args.status)
    return SourceListing(generated_at=format_timestamp(now), filters=filters, summary=summary, items=items)


def build_source_item(source: SourceHealth, now: int) -> SourceItem:
    return results.copy_fields(
        SourceItem,
        source,
        where=redact(source.where),
        detail=redact(source.detail),
        heard_at=results.format_optional_timestamp(source.heard_at),
        heard_age=results.compute_age(source.heard_at, now),
    )


COLUMNS = (
    TableColumn("AGENT", lambda item: item.agent or "all", style="cyan"),
    TableColumn("SOURCE", lambda item: item.source, style="bold"),
    TableColumn("STATUS", lambda item: item.status, choose_style=lambda item: _STATUS_STYLES[item.status]),
    TableColumn("LAST", lambda item: format_age(item.heard_age), is_right_aligned=True),
    TableColumn("RECORDS", lambda item: str(item.records or item.signals or "-"), is_right_aligned=True, worth=3),
    TableColumn("DROPPED", lambda item: str(item.dropped or "-"), is_right_aligned=True, worth=4),
    TableColumn(
        "LAG", lambda item: "-" if item.lag is None else f"{item.lag * 1000:.0f} ms", is_right_aligned=True, worth=2
    ),
    TableColumn("WHERE", lambda item: item.where, can_shrink=True, style="dim", min_width=16, worth=1, kind="folder"),
    TableColumn("DETAIL", lambda item: item.detail, can_shrink=True, min_width=16, worth=5),
)


def render_text(result: SourceListing, options: RenderOptions) -> str:
    empty = results.format_empty_listing("source", result) if result.filters else "No sources yet."
    footer = pluralize(result.summary.sources, "source")
    return results.render_listing(COLUMNS, result.items, options, empty=empty, footer=footer)


OP = Operation(
    name="list_sources",
    aliases=("sources",),
    summary="List the evidence sources of agents and their health.",
    doc="""A source is where an agent's state is read from: its hooks, registry file, transcript, server and marks in
its output; also its screen, title and process. While a better source is down, states come from a lesser one, and
`visor explain` says so.""",
    run=run,
    render_text=render_text,
    examples=(
        OperationExample("sources", "all sources"),
        OperationExample("sources --status down", "sources that cannot be read"),
        OperationExample("robot list-sources --agent codex", "the sources of one agent, as JSON"),
    ),
)
