"""What listings of windows, sessions and groups share: which panes they gather, and what is summed up of them."""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, Literal

from msgspec import Struct

from termvisor.model.agent.rollup import Rollup, rollup
from termvisor.model.agent.state import StateName, top
from termvisor.ops.agents import _pane_agents as crew
from termvisor.ops.agents._agent_row import AGE, CONTEXT, COST, STYLES, TOKENS, spoken
from termvisor.ops.agents._pane_agents import Member
from termvisor.ops.api.services import World
from termvisor.ops.panes._listing import Filters, PaneFilter, age_of, counts, instant, latest
from termvisor.ops.render.text import Column, age
from termvisor.redaction import redact

Place = tuple[str | int, ...]
SessionGrouping = Literal["target-session", "session-name"]
Grouping = Literal["target-session", "session-name", "window", "target", "agent"]


class Places(crew.Chosen, frozen=True, kw_only=True):
    """Which panes count."""

    pane: PaneFilter = None


class Summed(Struct, frozen=True, kw_only=True):
    """Agents together. ``top_state`` is the one that speaks for all, by precedence; null where there is no agent.
    ``waiting`` counts those that wait for a permission or an answer, ``needs_action`` all that need a person.
    """

    agents: int
    top_state: StateName | None
    waiting: int
    running: int
    needs_action: int
    by_state: dict[str, int]
    by_agent: dict[str, int]


class PlaceRow(Summed, frozen=True, kw_only=True):
    """What is said of the panes in one place. ``representative`` is the one of them that stands for all, and ``title``
    is its title: the agent's own where it has one. ``state_age`` is how long an agent has been in the top state, of
    several the longest. ``tokens`` and ``cost`` are sums of what was told, ``context_used`` is the fullest.
    """

    server: str
    panes: tuple[int, ...]
    representative: int
    title: str
    state_age: float | None
    tokens: int | None
    cost: float | None
    cost_is_estimated: bool
    context_used: float | None
    by_activity: dict[str, int]
    last_output_at: str | None
    last_output_age: float | None
    gaps: int


def by_window(one: Member) -> Place:
    facts = one.pane.facts
    return *by_session(one), facts.window_index, facts.window_id


def by_session(one: Member) -> Place:
    """Sessions of one name on two servers are two."""
    server = one.pane.instance.server
    return server.target, server.socket, one.pane.facts.session_name


def by_name(one: Member) -> Place:
    return (one.pane.facts.session_name,)


GROUPINGS: dict[Grouping, Callable[[Member], Place]] = {
    "target-session": by_session,
    "session-name": by_name,
    "window": by_window,
    "target": lambda one: (one.pane.instance.server.target,),
    "agent": lambda one: (one.view.state.agent if one.view is not None else "",),
}


def named(one: Member, grouping: Grouping) -> str:
    """What the panes of one group have in common, in words: `local/work`, `local/work:2`, `codex`."""
    facts, server = one.pane.facts, one.pane.instance.server
    session = f"{server.target}/{facts.session_name}"
    names = {"target-session": session, "window": f"{session}:{facts.window_index}"}
    return names.get(grouping) or str(GROUPINGS[grouping](one)[0])


async def gathered(world: World, asked: Filters, place: Callable[[Member], Place]) -> list[list[Member]]:
    """The living panes that pass the filters, those of one place together."""
    return together([one for one in await crew.crew(world, asked) if one.pane.gone_at is None], place)


def together(members: Sequence[Member], place: Callable[[Member], Place]) -> list[list[Member]]:
    """In the order of their places."""
    return [list(group) for _, group in groupby(sorted(members, key=place), key=place)]


def summed(members: Sequence[Member]) -> dict[str, Any]:
    """The fields of `Summed`."""
    found: Rollup = rollup(crew.agents_of(members))
    return {
        "agents": found.total,
        "top_state": found.top if found.total else None,
        "waiting": found.waiting,
        "running": found.running,
        "needs_action": found.needs_action,
        "by_state": found.by_state,
        "by_agent": found.by_agent,
    }


def representative(members: Sequence[Member]) -> Member:
    """The pane whose agent was last heard itself, then the one that printed last, then the first by its id."""

    def rank(one: Member) -> tuple[int, int, str]:
        state = one.view.state if one.view is not None else None
        spoke_at = state.last_event if state is not None and state.evidence_mode == "deterministic" else None
        return -(spoke_at or 0), -(one.pane.last_output_at or 0), one.pane.facts.mux_id

    return min(members, key=rank)


def _used(members: Sequence[Member], now: int) -> dict[str, Any]:
    """How long, how much, how full: None where nobody told."""
    states = crew.agents_of(members)
    since = [one.since for one in states if one.value == top(state.value for state in states) and one.since is not None]
    spent = [one.view.session.usage for one in members if one.view is not None and one.view.session is not None]
    tokens = [one.total for one in spent if one.total is not None]
    costs = [one.cost for one in spent if one.cost is not None]
    return {
        "state_age": age_of(min(since), now) if since else None,
        "tokens": sum(tokens) if tokens else None,
        "cost": sum(costs) if costs else None,
        "cost_is_estimated": any(one.is_estimated for one in spent),
        "context_used": max((one.context_used for one in spent if one.context_used is not None), default=None),
    }


def place_fields(members: Sequence[Member], now: int) -> dict[str, Any]:
    """The fields of `PlaceRow`."""
    panes = [one.pane for one in members]
    newest, servers = latest(panes), {pane.instance.server.socket for pane in panes}
    spokesman = representative(members)
    return {
        "server": min(servers) if len(servers) == 1 else "",
        "panes": tuple(pane.id for pane in panes),
        "representative": spokesman.pane.id,
        "title": redact(spokesman.view.title if spokesman.view is not None else "") or spokesman.pane.facts.title,
        **_used(members, now),
        "by_activity": counts(pane.activity.kind for pane in panes),
        "last_output_at": instant(newest),
        "last_output_age": age_of(newest, now),
        "gaps": sum(pane.gaps for pane in panes),
        **summed(members),
    }


def told(numbers: dict[str, int]) -> str:
    """`2 command, 1 prompt`."""
    return ", ".join(f"{number} {kind.replace('_', ' ')}" for kind, number in numbers.items())


def told_names(numbers: dict[str, int]) -> str:
    """`2 claude_code, 1 codex`: names stay as they are."""
    return ", ".join(f"{number} {name}" for name, number in numbers.items())


def _top(item: Summed) -> str:
    """`! waiting approval`: the mark stands where a person must act."""
    return f"{'! ' if item.needs_action else ''}{spoken(item.top_state)}" or "-"


def painted(item: Summed) -> str:
    return STYLES[item.top_state] if item.top_state is not None else ""


AGENTS = Column("AGENTS", lambda item: told_names(item.by_agent) or "-", may_shrink=True)
_AGENT_COLUMNS = (
    Column("STATE", _top, paint=painted),
    AGE,
    Column("WAIT", lambda item: str(item.waiting or "-"), is_right=True, style="yellow"),
    Column("RUN", lambda item: str(item.running or "-"), is_right=True, style="green"),
)
COLUMNS = (
    Column("TITLE", lambda item: item.title or "-", may_shrink=True, is_extra=True),
    Column("ACTIVITY", lambda item: told(item.by_activity), may_shrink=True, is_extra=True),
    Column("OUTPUT", lambda item: age(item.last_output_age), is_right=True, is_extra=True),
    Column("GAPS", lambda item: str(item.gaps or "-"), is_right=True, style="yellow", is_extra=True),
)

_SPENT = (TOKENS, CONTEXT, COST)


def columns(first: Sequence[Column], items: Sequence[Summed], who: Column = AGENTS) -> tuple[Column, ...]:
    """What stands before, what agents do where there are any, and what panes do. ``who`` names the agents."""
    has_agents = any(item.agents for item in items)
    return (*first, *((*_AGENT_COLUMNS, who) if has_agents else ()), *COLUMNS, *(_SPENT if has_agents else ()))
