"""The operation `usage_daily`: tokens and cost of the agents' sessions, by day."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta, Struct

from termvisor.clock import NS, format_timestamp
from termvisor.model.agent.session import AgentSession
from termvisor.ops.agents._agent_row import format_dollars
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.results import BaseListing, build_filters
from termvisor.ops.render.table import TableColumn, render_table
from termvisor.ops.render.text import RenderOptions, pluralize

_DAY_NS = 86_400 * NS
_MAX_SESSIONS = 100_000


class UsageDailyArgs(Struct, frozen=True, kw_only=True):
    """How many days, and optionally one agent."""

    days: Annotated[int, Meta(description="How many days, with today.", ge=1, le=3660, extra={"short": ("-n",)})] = 14
    agent: Annotated[str | None, Meta(description="Only this agent, for example claude_code.")] = None


class UsageTotals(Struct, frozen=True, kw_only=True):
    """``tokens`` and ``cost`` (US dollars) are null if no session reports them. ``unknown`` counts the sessions without
    token counts.
    """

    sessions: int = 0
    unknown: int = 0
    tokens: int | None = None
    cost: float | None = None
    cost_is_estimated: bool = False


class UsageDay(UsageTotals, frozen=True, kw_only=True):
    """``day`` is a date of the daemon's time zone; ``by_agent`` are the tokens of each agent."""

    day: str
    by_agent: dict[str, int] = {}


class UsageListing(BaseListing, frozen=True, kw_only=True):
    """Days with sessions, oldest first."""

    summary: UsageTotals
    items: tuple[UsageDay, ...]


async def run(services: Services, args: UsageDailyArgs) -> UsageListing:
    now = services.clock.now()
    midnight = datetime.fromtimestamp(now // NS).astimezone().replace(hour=0, minute=0, second=0)
    since = int(midnight.timestamp()) * NS - (args.days - 1) * _DAY_NS
    sessions = await services.agents.list_sessions(agent=args.agent, since=since, limit=_MAX_SESSIONS)
    by_day: dict[str, list[AgentSession]] = defaultdict(list)
    for session in sessions:
        by_day[_format_day(session.ended_at or now)].append(session)
    return UsageListing(
        generated_at=format_timestamp(now),
        filters=build_filters(days=args.days, agent=args.agent),
        summary=UsageTotals(**_sum_usage(sessions)),
        items=tuple(
            UsageDay(day=day, by_agent=_sum_by_agent(members), **_sum_usage(members))
            for day, members in sorted(by_day.items())
        ),
    )


def _format_day(at: int) -> str:
    return datetime.fromtimestamp(at // NS).astimezone().strftime("%Y-%m-%d")


def _sum_usage(sessions: Sequence[AgentSession]) -> dict[str, Any]:
    tokens = [session.usage.total for session in sessions if session.usage.total is not None]
    costs = [session.usage.cost for session in sessions if session.usage.cost is not None]
    return {
        "sessions": len(sessions),
        "unknown": len(sessions) - len(tokens),
        "tokens": sum(tokens) if tokens else None,
        "cost": round(sum(costs), 4) if costs else None,
        "cost_is_estimated": any(session.usage.is_estimated for session in sessions),
    }


def _sum_by_agent(sessions: Sequence[AgentSession]) -> dict[str, int]:
    sums: dict[str, int] = defaultdict(int)
    for session in sessions:
        sums[session.agent] += session.usage.total or 0
    return {agent: count for agent, count in sorted(sums.items()) if count}


def _format_cost(item: UsageTotals) -> str:
    return "-" if item.cost is None else format_dollars(item.cost, is_estimated=item.cost_is_estimated)


def _format_tokens(item: UsageTotals) -> str:
    return "-" if item.tokens is None else f"{item.tokens:,}"


_COLUMNS = (
    TableColumn("DAY", lambda item: item.day, style="bold"),
    TableColumn("SESSIONS", lambda item: str(item.sessions), is_right_aligned=True),
    TableColumn("TOKENS", _format_tokens, is_right_aligned=True),
    TableColumn("COST", _format_cost, is_right_aligned=True),
    TableColumn(
        "BY AGENT",
        lambda item: ", ".join(f"{agent} {count:,}" for agent, count in item.by_agent.items()) or "-",
        can_shrink=True,
        worth=2,
    ),
)


def render_text(result: UsageListing, options: RenderOptions) -> str:
    if not result.items:
        return "No sessions in these days."
    rows = render_table(_COLUMNS, result.items, options)
    if options.is_quiet:
        return rows
    total = result.summary
    unknown = f"; {pluralize(total.unknown, 'session')} without token counts" if total.unknown else ""
    return f"{rows}\n\n{_format_tokens(total)} tokens, cost {_format_cost(total)}{unknown}"


OP = Operation(
    name="usage_daily",
    robot_name="usage-daily",
    summary="Show tokens and cost by day.",
    doc="""A session counts as a whole on the day on which it ended, and on today as long as it is open, because agents
report totals of a session. Cost is what the agent reported, else an estimate from the setting `agent_prices`; it is
unknown for models without a price.""",
    run=run,
    render_text=render_text,
    examples=(
        OperationExample("usage-daily", "the last two weeks"),
        OperationExample("usage-daily -n 1", "today"),
        OperationExample("robot usage-daily --agent codex", "one agent, as JSON"),
    ),
)
