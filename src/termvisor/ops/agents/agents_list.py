"""The op `agents_list`: the agent programs that the product knows, and what it can do with each."""

from collections.abc import Iterable

from msgspec import Struct

from termvisor.clock import iso
from termvisor.model.agent.session import AgentView
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.panes._listing import Listing, counts
from termvisor.ops.render.text import Column, Look, counted, table
from termvisor.redaction import redact


class ListKinds(Struct, frozen=True, kw_only=True):
    """Nothing to choose."""


class KindItem(Struct, frozen=True, kw_only=True):
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


class KindsSummary(Struct, frozen=True, kw_only=True):
    known: int
    enabled: int
    by_agent: dict[str, int]
    """How many of each live."""


class KindListing(Listing, frozen=True, kw_only=True):
    """In the order in which they are asked whether a process is theirs."""

    summary: KindsSummary
    items: tuple[KindItem, ...]


async def run(world: World, _wanted: ListKinds) -> KindListing:
    views = await world.agents.views()
    living = {pane: view.state.agent for pane, view in views.items()}
    items = tuple(
        KindItem(
            name=kind.name,
            version=".".join(map(str, kind.contract_version)),
            is_enabled=kind.is_enabled,
            capabilities=kind.capabilities,
            sources=kind.sources,
            panes=tuple(pane for pane, name in living.items() if name == kind.name),
            alive=_versions(views[pane] for pane, name in living.items() if name == kind.name),
            recorded=kind.recorded,
            failures=kind.failures,
        )
        for kind in await world.agents.kinds()
    )
    summary = KindsSummary(
        known=len(items), enabled=sum(item.is_enabled for item in items), by_agent=counts(living.values())
    )
    return KindListing(generated_at=iso(world.clock.now()), summary=summary, items=items)


def _versions(views: Iterable[AgentView]) -> tuple[str, ...]:
    told = {redact(one.session.version) for one in views if one.session is not None}
    return tuple(sorted(told - {""}))


def _newness(item: KindItem) -> str:
    """A version that nobody recorded is shown in yellow."""
    return "yellow" if item.recorded and set(item.alive) - set(item.recorded) else ""


COLUMNS = (
    Column("AGENT", lambda item: item.name, style="cyan"),
    Column("ENABLED", lambda item: "yes" if item.is_enabled else "no"),
    Column("PANES", lambda item: " ".join(map(str, item.panes)) or "-", may_shrink=True, style="bold"),
    Column("VERSION", lambda item: " ".join(item.alive) or "-", may_shrink=True, paint=_newness),
    Column("CONTRACT", lambda item: item.version, is_right=True),
    Column("FAILURES", lambda item: str(item.failures or "-"), is_right=True, style="red"),
    Column("SOURCES", lambda item: " ".join(item.sources), may_shrink=True),
    Column("CAPABILITIES", lambda item: " ".join(item.capabilities), may_shrink=True),
)


def plain(listing: KindListing, look: Look) -> str:
    rows = table(COLUMNS, listing.items, look)
    if look.is_quiet:
        return rows
    summary = listing.summary
    alive = sum(summary.by_agent.values())
    return f"{rows}\n\n{summary.enabled} of {counted(summary.known, 'agent')} enabled, {alive} alive"


OP = Op(
    name="agents_list",
    aliases=("agents",),
    summary="The agent programs that are known, and what can be done with each.",
    doc="""The setting `agents_disabled` switches one off. A version of which there is no recording may be known less
well: `visor doctor` tells it. What an agent is doing is shown by `visor status` and
`visor panes`; its conversations by `visor agents sessions`.""",
    Input=ListKinds,
    Output=KindListing,
    run=run,
    plain=plain,
    examples=(Example("agents", "for people"), Example("robot agents list", "as JSON")),
)
