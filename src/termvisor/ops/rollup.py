"""What listings of windows, sessions and groups share: which panes they gather, and what is summed up of them."""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, Literal

from msgspec import Struct

from termvisor.model.agent import StateName
from termvisor.model.rollup import Rollup, rollup
from termvisor.ops import crew
from termvisor.ops.agent_row import STYLES, spoken
from termvisor.ops.crew import Member
from termvisor.ops.listing import Filters, PaneFilter, age_of, counts, instant, latest
from termvisor.ops.look import Column, age
from termvisor.ops.world import World

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
    """What is said of the panes in one place."""

    server: str
    panes: tuple[int, ...]
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


def place_fields(members: Sequence[Member], now: int) -> dict[str, Any]:
    """The fields of `PlaceRow`."""
    panes = [one.pane for one in members]
    newest, servers = latest(panes), {pane.instance.server.socket for pane in panes}
    return {
        "server": min(servers) if len(servers) == 1 else "",
        "panes": tuple(pane.id for pane in panes),
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
    Column("WAIT", lambda item: str(item.waiting or "-"), is_right=True, style="yellow"),
    Column("RUN", lambda item: str(item.running or "-"), is_right=True, style="green"),
)
COLUMNS = (
    Column("ACTIVITY", lambda item: told(item.by_activity), may_shrink=True, is_extra=True),
    Column("OUTPUT", lambda item: age(item.last_output_age), is_right=True, is_extra=True),
    Column("GAPS", lambda item: str(item.gaps or "-"), is_right=True, style="yellow", is_extra=True),
)


def columns(first: Sequence[Column], items: Sequence[Summed], who: Column = AGENTS) -> tuple[Column, ...]:
    """What stands before, what agents do where there are any, and what panes do. ``who`` names the agents."""
    return (*first, *((*_AGENT_COLUMNS, who) if any(item.agents for item in items) else ()), *COLUMNS)
