"""The op `agents_sessions`: the conversations of agents, what they used, and how each is taken up again."""

import shlex
from collections.abc import Iterable
from typing import Annotated, TypeVar

from msgspec import Meta, Struct
from msgspec.structs import replace

from termvisor.clock import format_timestamp
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.agent.session import AgentSession, EndReason, TokenCounts, TokenUsage
from termvisor.ops.agents._agent_row import format_dollars
from termvisor.ops.agents._cass_history import CassHistory, fetch_histories
from termvisor.ops.api.envelope import compute_seconds_between
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.panes._listing import (
    BaseListing,
    PaneFilter,
    PaneIdentity,
    build_filters,
    build_unknown_identity,
    count_values,
    format_optional_timestamp,
    identify_all_panes,
    parse_time_filter,
    resolve_pane_id,
)
from termvisor.ops.render.text import RenderOptions, TableColumn, format_age, pluralize, render_table, sanitize
from termvisor.redaction import redact


class AgentsSessionsArgs(Struct, frozen=True, kw_only=True):
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


class AgentSessionItem(Struct, frozen=True, kw_only=True):
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
    usage: TokenUsage
    by_model: dict[str, TokenCounts]
    resume: str
    history: CassHistory | None = None


class AgentSessionsSummary(Struct, frozen=True, kw_only=True):
    """``tokens`` and ``cost`` are the sums of what was told, null where nobody told any; ``without_cost`` counts the
    sessions that told no cost.
    """

    sessions: int
    by_agent: dict[str, int]
    tokens: int | None
    cost: float | None
    without_cost: int


class AgentSessionListing(BaseListing, frozen=True, kw_only=True):
    """Sessions, oldest first."""

    summary: AgentSessionsSummary
    items: tuple[AgentSessionItem, ...]


async def run(services: ActingServices, args: AgentsSessionsArgs) -> AgentSessionListing:
    now, known = services.clock.now(), await identify_all_panes(services)
    found = await services.agents.list_sessions(
        pane=await resolve_pane_id(services, args.pane),
        agent=args.agent,
        since=parse_time_filter(args.since, now),
        limit=args.limit,
    )
    items = tuple(_build_item(one, known.get(one.pane) or build_unknown_identity(one.pane), now) for one in found)
    if args.history:
        known_elsewhere = await fetch_histories(found, lambda action: services.gate.run(action, Preconditions()))
        items = tuple(replace(item, history=one) for item, one in zip(items, known_elsewhere, strict=True))
    summary = AgentSessionsSummary(
        sessions=len(items),
        by_agent=count_values(item.agent for item in items),
        tokens=_sum_known(item.tokens for item in items),
        cost=_sum_known(item.cost for item in items),
        without_cost=sum(item.cost is None for item in items),
    )
    given = build_filters(pane=args.pane, agent=args.agent, since=args.since)
    return AgentSessionListing(generated_at=format_timestamp(now), filters=given, summary=summary, items=items)


def _build_item(session: AgentSession, pane_identity: PaneIdentity, now: int) -> AgentSessionItem:
    return AgentSessionItem(
        id=session.id,
        identity=pane_identity,
        agent=session.agent,
        external_id=redact(session.external_id),
        title=redact(session.title),
        model=redact(session.model),
        version=redact(session.version),
        cwd=redact(session.cwd),
        started_at=format_timestamp(session.started_at),
        ended_at=format_optional_timestamp(session.ended_at),
        end_reason=session.end_reason,
        seconds=compute_seconds_between(session.started_at, session.ended_at or now),
        tokens=session.usage.total,
        cost=session.usage.cost,
        usage=session.usage,
        by_model={redact(model): spent for model, spent in session.by_model.items()},
        resume=redact(shlex.join(session.resume)),
    )


N = TypeVar("N", int, float)


def _sum_known(numbers: Iterable[N | None]) -> N | None:
    """Of those that are known; None where none is."""
    known = [number for number in numbers if number is not None]
    return sum(known[1:], known[0]) if known else None


def format_tokens(tokens: int | None) -> str:
    return "unknown" if tokens is None else f"{tokens:,}"


COLUMNS = (
    TableColumn("ID", lambda item: str(item.id), is_right_aligned=True, style="bold"),
    TableColumn("PANE", lambda item: str(item.identity.id), is_right_aligned=True),
    TableColumn("AGENT", lambda item: item.agent, style="cyan"),
    TableColumn("MODEL", lambda item: item.model or "-", can_shrink=True),
    TableColumn("STARTED", lambda item: item.started_at),
    TableColumn("FOR", lambda item: format_age(item.seconds), is_right_aligned=True),
    TableColumn("END", lambda item: item.end_reason or ("-" if item.ended_at is None else "ended")),
    TableColumn("TOKENS", lambda item: format_tokens(item.tokens), is_right_aligned=True),
    TableColumn(
        "COST", lambda item: format_dollars(item.cost, is_estimated=item.usage.is_estimated), is_right_aligned=True
    ),
    TableColumn("TITLE", lambda item: item.title, can_shrink=True),
    TableColumn("RESUME", lambda item: item.resume or "-", can_shrink=True, style="dim"),
)


def render_text(result: AgentSessionListing, options: RenderOptions) -> str:
    rows = render_table(COLUMNS, result.items, options)
    if options.is_quiet:
        return rows
    summary = result.summary
    told = f"{pluralize(summary.sessions, 'session')}, tokens {format_tokens(summary.tokens)}, cost {format_dollars(summary.cost)}"
    less = f" without the {summary.without_cost} that told none"
    has_rest = summary.cost is not None and summary.without_cost
    past = "".join(f"\n{_format_history(item, item.history)}" for item in result.items if item.history is not None)
    return f"{rows}{past}\n\n{told}{less if has_rest else ''}" if result.items else "No agent had a session yet."


_HISTORY_TEXTS = {
    "found": "cass knows it by its {key}; the robot answer holds what it says",
    "nothing": "cass knows nothing of it",
    "not_installed": "cass is not installed",
    "failed": "cass could not answer: {detail}",
    "not_asked": "{detail}",
}


def _format_history(item: AgentSessionItem, history: CassHistory) -> str:
    words = _HISTORY_TEXTS[history.status].format(key=history.key.replace("_", " "), detail=history.detail)
    return sanitize(f"session {item.id}: {words}")


OP = Operation(
    name="agents_sessions",
    summary="The conversations of agents: model, tokens, cost, and how to resume each.",
    doc="""A session begins when an agent is recognised in a pane or starts a new conversation, and ends with it;
`end_reason` is `completed`, `limit_reached`, `error`, `manual` or `pane_gone`. What an agent did not tell is unknown,
never 0. A cost with a `~` is an estimate by the setting `agent_prices`; where a model has no price there, the cost is
unknown.

With `--history` the program `cass`, where it is installed, is asked what it knows of each session: by the agent's own
id of it, else by the folder in which it ran.""",
    args_type=AgentsSessionsArgs,
    result_type=AgentSessionListing,
    run=run,
    render_text=render_text,
    examples=(
        OperationExample("agents sessions", "the newest ones"),
        OperationExample("agents sessions --agent claude_code --since today", "today's of one agent"),
        OperationExample("agents sessions -n 3 --history", "with what `cass` knows of them"),
        OperationExample("robot agents sessions --pane 7 -n 1", "the last one of pane 7, as JSON"),
    ),
)
