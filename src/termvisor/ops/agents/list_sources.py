"""The op `list_sources`: where agents leave word, and whether each place is heard."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from termvisor.clock import format_timestamp
from termvisor.model.agent.session import SourceHealth
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes._listing import (
    BaseListing,
    build_filters,
    compute_age,
    count_values,
    format_optional_timestamp,
    render_empty_listing,
)
from termvisor.ops.render.text import RenderOptions, TableColumn, format_age, pluralize, render_table
from termvisor.redaction import redact

SourceStatus = Literal["well", "quiet", "absent", "down"]
_STATUS_STYLES: dict[SourceStatus, str] = {"well": "green", "quiet": "", "absent": "dim", "down": "red"}


class ListSourcesArgs(Struct, frozen=True, kw_only=True):
    """Which sources to list."""

    agent: Annotated[str | None, Meta(description="Only those of this agent.")] = None
    status: Annotated[SourceStatus | None, Meta(description="Only those that are doing so.")] = None


class SourceItem(Struct, frozen=True, kw_only=True):
    """``status``: `well` speaks, `quiet` has nothing new, `absent` is not there (yet), `down` cannot be heard.

    ``lag`` is seconds from the agent's own time to ours. ``dropped`` counts signals that changed nothing.
    """

    agent: str
    source: str
    where: str
    status: SourceStatus
    detail: str
    heard_at: str | None
    heard_age: float | None
    records: int
    signals: int
    dropped: int
    lag: float | None


class SourcesSummary(Struct, frozen=True, kw_only=True):
    sources: int
    by_status: dict[str, int]
    by_agent: dict[str, int]


class SourceListing(BaseListing, frozen=True, kw_only=True):
    """Sources, by agent."""

    summary: SourcesSummary
    items: tuple[SourceItem, ...]


async def run(services: Services, args: ListSourcesArgs) -> SourceListing:
    now = services.clock.now()
    found = sorted(await services.agents.list_sources(), key=lambda one: (one.agent, one.source, one.where))
    items = tuple(
        build_source_item(one, now)
        for one in found
        if args.agent in (None, one.agent) and args.status in (None, one.status)
    )
    summary = SourcesSummary(
        sources=len(items),
        by_status=count_values(one.status for one in items),
        by_agent=count_values(one.agent for one in items),
    )
    given = build_filters(agent=args.agent, status=args.status)
    return SourceListing(generated_at=format_timestamp(now), filters=given, summary=summary, items=items)


def build_source_item(source: SourceHealth, now: int) -> SourceItem:
    return SourceItem(
        agent=source.agent,
        source=source.source,
        where=redact(source.where),
        status=source.status,
        detail=redact(source.detail),
        heard_at=format_optional_timestamp(source.heard_at),
        heard_age=compute_age(source.heard_at, now),
        records=source.records,
        signals=source.signals,
        dropped=source.dropped,
        lag=source.lag,
    )


COLUMNS = (
    TableColumn("AGENT", lambda item: item.agent or "all", style="cyan"),
    TableColumn("SOURCE", lambda item: item.source, style="bold"),
    TableColumn("STATUS", lambda item: item.status, choose_style=lambda item: _STATUS_STYLES[item.status]),
    TableColumn("HEARD", lambda item: format_age(item.heard_age), is_right_aligned=True),
    TableColumn("TOLD", lambda item: str(item.records or item.signals or "-"), is_right_aligned=True),
    TableColumn("DROPPED", lambda item: str(item.dropped or "-"), is_right_aligned=True),
    TableColumn("LAG", lambda item: "-" if item.lag is None else f"{item.lag * 1000:.0f} ms", is_right_aligned=True),
    TableColumn("WHERE", lambda item: item.where, can_shrink=True, style="dim"),
    TableColumn("DETAIL", lambda item: item.detail, can_shrink=True),
)


def render_text(result: SourceListing, options: RenderOptions) -> str:
    rows = render_table(COLUMNS, result.items, options)
    if options.is_quiet:
        return rows
    told = pluralize(result.summary.sources, "source")
    if result.filters and not result.items:
        return render_empty_listing("source", result)
    return f"{rows}\n\n{told}" if result.items else "No agent has spoken anywhere yet."


OP = Operation(
    name="list_sources",
    aliases=("sources",),
    summary="Where agents leave word, and whether each place is heard.",
    doc="""A source is a place in which an agent tells what it does: its hooks, its registry file, its transcript, its
server, marks in its output; and what we see ourselves: its screen, title and process. While a better source is down,
states rest on a lesser one, and `visor explain` says so.""",
    args_type=ListSourcesArgs,
    result_type=SourceListing,
    run=run,
    render_text=render_text,
    examples=(
        OperationExample("sources", "all of them"),
        OperationExample("sources --status down", "those that cannot be heard"),
        OperationExample("robot list-sources --agent codex", "those of one agent, as JSON"),
    ),
)
