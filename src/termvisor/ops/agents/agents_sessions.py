"""The op `agents_sessions`: the conversations of agents, what they used, and how each is taken up again."""

import shlex
from collections.abc import Iterable
from typing import Annotated, TypeVar

from msgspec import Meta, Struct
from msgspec.structs import replace

from termvisor.clock import iso
from termvisor.model.action.preconditions import Terms
from termvisor.model.agent.session import AgentSession, EndReason, Spent, Usage
from termvisor.ops.agents._agent_row import money
from termvisor.ops.agents._cass_link import SessionHistory, histories
from termvisor.ops.api.envelope import seconds_between
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.panes._listing import (
    Listing,
    PaneFilter,
    PaneIdentity,
    counts,
    filters,
    identities,
    instant,
    moment,
    named_id,
    nobody,
)
from termvisor.ops.render.text import Column, Look, age, clean, counted, table
from termvisor.redaction import redact


class AgentsSessions(Struct, frozen=True, kw_only=True):
    """Which sessions."""

    limit: Annotated[int, Meta(description="At most so many.", ge=1, le=10_000, extra={"short": ("-n",)})] = 20
    pane: PaneFilter = None
    agent: Annotated[str | None, Meta(description="Only those of this agent.")] = None
    since: Annotated[
        str | None, Meta(description="Only those that went on after this: ISO 8601, today, or an age such as 2h.")
    ] = None

    history: Annotated[bool, Meta(description="Also what the program `cass` knows of each, where it is installed.")] = (
        False
    )


class SessionUse(Struct, frozen=True, kw_only=True):
    """One conversation. ``external_id`` is the agent's own name for it. ``tokens``, ``cost`` (US dollars) and the rest
    of ``usage`` are null where the agent did not tell them; ``usage.is_estimated`` says that the cost is reckoned by
    the setting `agent_prices`. ``by_model`` is what each model took, where the agent tells that. ``resume`` takes it up
    again; empty where nothing does.
    """

    id: int
    identity: PaneIdentity
    agent: str
    external_id: str
    title: str
    model: str
    version: str
    cwd: str
    started_at: str
    ended_at: str | None
    end_reason: EndReason | None
    seconds: float
    tokens: int | None
    cost: float | None
    usage: Usage
    by_model: dict[str, Spent]
    resume: str
    history: SessionHistory | None = None


class SessionsUse(Struct, frozen=True, kw_only=True):
    """``tokens`` and ``cost`` are the sums of what was told, null where nobody told any; ``without_cost`` counts the
    sessions that told no cost.
    """

    sessions: int
    by_agent: dict[str, int]
    tokens: int | None
    cost: float | None
    without_cost: int


class AgentSessionListing(Listing, frozen=True, kw_only=True):
    """Sessions, oldest first."""

    summary: SessionsUse
    items: tuple[SessionUse, ...]


async def run(world: ActingWorld, wanted: AgentsSessions) -> AgentSessionListing:
    now, known = world.clock.now(), await identities(world)
    found = await world.agents.sessions(
        pane=await named_id(world, wanted.pane),
        agent=wanted.agent,
        since=moment(wanted.since, now),
        limit=wanted.limit,
    )
    items = tuple(_item(one, known.get(one.pane) or nobody(one.pane), now) for one in found)
    if wanted.history:
        known_elsewhere = await histories(found, lambda action: world.door.do(action, Terms()))
        items = tuple(replace(item, history=one) for item, one in zip(items, known_elsewhere, strict=True))
    summary = SessionsUse(
        sessions=len(items),
        by_agent=counts(item.agent for item in items),
        tokens=_sum(item.tokens for item in items),
        cost=_sum(item.cost for item in items),
        without_cost=sum(item.cost is None for item in items),
    )
    given = filters(pane=wanted.pane, agent=wanted.agent, since=wanted.since)
    return AgentSessionListing(generated_at=iso(now), filters=given, summary=summary, items=items)


def _item(session: AgentSession, who: PaneIdentity, now: int) -> SessionUse:
    return SessionUse(
        id=session.id,
        identity=who,
        agent=session.agent,
        external_id=redact(session.external_id),
        title=redact(session.title),
        model=redact(session.model),
        version=redact(session.version),
        cwd=redact(session.cwd),
        started_at=iso(session.started_at),
        ended_at=instant(session.ended_at),
        end_reason=session.end_reason,
        seconds=seconds_between(session.started_at, session.ended_at or now),
        tokens=session.usage.total,
        cost=session.usage.cost,
        usage=session.usage,
        by_model={redact(model): spent for model, spent in session.by_model.items()},
        resume=redact(shlex.join(session.resume)),
    )


N = TypeVar("N", int, float)


def _sum(numbers: Iterable[N | None]) -> N | None:
    """Of those that are known; None where none is."""
    known = [number for number in numbers if number is not None]
    return sum(known[1:], known[0]) if known else None


def amount(tokens: int | None) -> str:
    return "unknown" if tokens is None else f"{tokens:,}"


COLUMNS = (
    Column("ID", lambda item: str(item.id), is_right=True, style="bold"),
    Column("PANE", lambda item: str(item.identity.id), is_right=True),
    Column("AGENT", lambda item: item.agent, style="cyan"),
    Column("MODEL", lambda item: item.model or "-", may_shrink=True),
    Column("STARTED", lambda item: item.started_at),
    Column("FOR", lambda item: age(item.seconds), is_right=True),
    Column("END", lambda item: item.end_reason or ("-" if item.ended_at is None else "ended")),
    Column("TOKENS", lambda item: amount(item.tokens), is_right=True),
    Column("COST", lambda item: money(item.cost, is_estimated=item.usage.is_estimated), is_right=True),
    Column("TITLE", lambda item: item.title, may_shrink=True),
    Column("RESUME", lambda item: item.resume or "-", may_shrink=True, style="dim"),
)


def plain(listing: AgentSessionListing, look: Look) -> str:
    rows = table(COLUMNS, listing.items, look)
    if look.is_quiet:
        return rows
    summary = listing.summary
    told = f"{counted(summary.sessions, 'session')}, tokens {amount(summary.tokens)}, cost {money(summary.cost)}"
    less = f" without the {summary.without_cost} that told none"
    has_rest = summary.cost is not None and summary.without_cost
    past = "".join(f"\n{_past(item, item.history)}" for item in listing.items if item.history is not None)
    return f"{rows}{past}\n\n{told}{less if has_rest else ''}" if listing.items else "No agent had a session yet."


_PAST = {
    "found": "cass knows it by its {key}; the robot answer holds what it says",
    "nothing": "cass knows nothing of it",
    "not_installed": "cass is not installed",
    "failed": "cass could not answer: {detail}",
    "not_asked": "{detail}",
}


def _past(item: SessionUse, history: SessionHistory) -> str:
    words = _PAST[history.status].format(key=history.key.replace("_", " "), detail=history.detail)
    return clean(f"session {item.id}: {words}")


OP = Op(
    name="agents_sessions",
    summary="The conversations of agents: model, tokens, cost, and how to resume each.",
    doc="""A session begins when an agent is recognised in a pane or starts a new conversation, and ends with it;
`end_reason` is `completed`, `limit_reached`, `error`, `manual` or `pane_gone`. What an agent did not tell is unknown,
never 0. A cost with a `~` is an estimate by the setting `agent_prices`; where a model has no price there, the cost is
unknown.

With `--history` the program `cass`, where it is installed, is asked what it knows of each session: by the agent's own
id of it, else by the folder in which it ran.""",
    Input=AgentsSessions,
    Output=AgentSessionListing,
    run=run,
    plain=plain,
    examples=(
        Example("agents sessions", "the newest ones"),
        Example("agents sessions --agent claude_code --since today", "today's of one agent"),
        Example("agents sessions -n 3 --history", "with what `cass` knows of them"),
        Example("robot agents sessions --pane 7 -n 1", "the last one of pane 7, as JSON"),
    ),
)
