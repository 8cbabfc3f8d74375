"""The op `list_sources`: where agents leave word, and whether each place is heard."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from termvisor.clock import iso
from termvisor.model.agent.session import SourceHealth
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.panes._listing import Listing, age_of, counts, filters, instant, none
from termvisor.ops.render.text import Column, Look, age, counted, table
from termvisor.redaction import redact

SourceStatus = Literal["well", "quiet", "absent", "down"]
_STYLES: dict[SourceStatus, str] = {"well": "green", "quiet": "", "absent": "dim", "down": "red"}


class ListSources(Struct, frozen=True, kw_only=True):
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


class SourceListing(Listing, frozen=True, kw_only=True):
    """Sources, by agent."""

    summary: SourcesSummary
    items: tuple[SourceItem, ...]


async def run(world: World, wanted: ListSources) -> SourceListing:
    now = world.clock.now()
    found = sorted(await world.agents.sources(), key=lambda one: (one.agent, one.source, one.where))
    items = tuple(
        item(one, now) for one in found if wanted.agent in (None, one.agent) and wanted.status in (None, one.status)
    )
    summary = SourcesSummary(
        sources=len(items),
        by_status=counts(one.status for one in items),
        by_agent=counts(one.agent for one in items),
    )
    given = filters(agent=wanted.agent, status=wanted.status)
    return SourceListing(generated_at=iso(now), filters=given, summary=summary, items=items)


def item(source: SourceHealth, now: int) -> SourceItem:
    return SourceItem(
        agent=source.agent,
        source=source.source,
        where=redact(source.where),
        status=source.status,
        detail=redact(source.detail),
        heard_at=instant(source.heard_at),
        heard_age=age_of(source.heard_at, now),
        records=source.records,
        signals=source.signals,
        dropped=source.dropped,
        lag=source.lag,
    )


COLUMNS = (
    Column("AGENT", lambda item: item.agent or "all", style="cyan"),
    Column("SOURCE", lambda item: item.source, style="bold"),
    Column("STATUS", lambda item: item.status, paint=lambda item: _STYLES[item.status]),
    Column("HEARD", lambda item: age(item.heard_age), is_right=True),
    Column("TOLD", lambda item: str(item.records or item.signals or "-"), is_right=True),
    Column("DROPPED", lambda item: str(item.dropped or "-"), is_right=True),
    Column("LAG", lambda item: "-" if item.lag is None else f"{item.lag * 1000:.0f} ms", is_right=True),
    Column("WHERE", lambda item: item.where, may_shrink=True, style="dim"),
    Column("DETAIL", lambda item: item.detail, may_shrink=True),
)


def plain(listing: SourceListing, look: Look) -> str:
    rows = table(COLUMNS, listing.items, look)
    if look.is_quiet:
        return rows
    told = counted(listing.summary.sources, "source")
    if listing.filters and not listing.items:
        return none("source", listing)
    return f"{rows}\n\n{told}" if listing.items else "No agent has spoken anywhere yet."


OP = Op(
    name="list_sources",
    aliases=("sources",),
    summary="Where agents leave word, and whether each place is heard.",
    doc="""A source is a place in which an agent tells what it does: its hooks, its registry file, its transcript, its
server, marks in its output; and what we see ourselves: its screen, title and process. While a better source is down,
states rest on a lesser one, and `visor explain` says so.""",
    Input=ListSources,
    Output=SourceListing,
    run=run,
    plain=plain,
    examples=(
        Example("sources", "all of them"),
        Example("sources --status down", "those that cannot be heard"),
        Example("robot list-sources --agent codex", "those of one agent, as JSON"),
    ),
)
