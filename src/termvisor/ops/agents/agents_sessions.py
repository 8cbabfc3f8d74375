"""The operation `agents_sessions`: list agent sessions with model, usage, cost and resume command.

`--history` also looks them up in `cass`, an optional program that indexes the histories of coding agents: by their
own session id, else by the directory. A missing program is a status, not an error.
"""

import shlex
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from termvisor.clock import compute_seconds_between, format_timestamp
from termvisor.errors import Refused
from termvisor.model.action.action import RunProgram
from termvisor.model.action.outcome import ProgramRunner, explain_missing_output
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.agent.session import AgentSession, EndReason, TokenCounts, TokenUsage
from termvisor.ops.agents._agent_row import format_dollars
from termvisor.ops.agents._pane_agents import check_agent_name
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes._pane_reference import PaneFilter, PaneIdentity, identify_all_panes, resolve_pane_id
from termvisor.ops.render import results
from termvisor.ops.render.table import TableColumn, render_table
from termvisor.ops.render.text import RenderOptions, format_age, pluralize, sanitize
from termvisor.redaction import redact, redact_values
from termvisor.system.subprocesses import is_installed

CASS_PROGRAM = "cass"
# Only the newest sessions of a listing are looked up: each lookup starts a process.
MAX_SESSIONS_LOOKED_UP = 10
CassLookupStatus = Literal["found", "nothing", "not_installed", "failed", "not_asked"]


class AgentsSessionsArgs(Struct, frozen=True, kw_only=True):
    """Choose the sessions to list."""

    limit: Annotated[
        int, Meta(description="Maximum number of sessions.", ge=1, le=10_000, extra={"short": ("-n",)})
    ] = 20
    pane: PaneFilter = None
    agent: Annotated[str | None, Meta(description="Only sessions of this agent.")] = None
    since: Annotated[
        str | None, Meta(description="Only sessions active after this: ISO 8601, today, or an age such as 2h.")
    ] = None

    history: Annotated[bool, Meta(description="Also look up each session in `cass`, if it is installed.")] = False


class CassHistory(Struct, frozen=True, kw_only=True):
    """``key`` is the key that the session was looked up by; ``answer`` is the output of `cass`, redacted; ``detail`` is
    the error.
    """

    status: CassLookupStatus
    key: Literal["session_id", "path", ""] = ""
    answer: Any = None
    detail: str = ""


class AgentSessionItem(Struct, frozen=True, kw_only=True):
    """One session. ``external_id`` is the agent's own session id. ``tokens``, ``cost`` (US dollars) and the rest of
    ``usage`` are null if the agent did not report them; ``usage.is_estimated`` means that the cost was computed from
    the setting `agent_prices`. ``by_model`` is the usage per model, if the agent reports it. ``resume`` is the command
    that resumes the session; empty if none is known.
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
    """``tokens`` and ``cost`` are sums over the sessions that report them, null if none does; ``without_cost`` counts
    the sessions without a reported cost.
    """

    sessions: int
    by_agent: dict[str, int]
    tokens: int | None
    cost: float | None
    without_cost: int


class AgentSessionListing(results.BaseListing, frozen=True, kw_only=True):
    """Sessions, oldest first."""

    summary: AgentSessionsSummary
    items: tuple[AgentSessionItem, ...]


async def run(services: Services, args: AgentsSessionsArgs) -> AgentSessionListing:
    now, identities = services.clock.now(), await identify_all_panes(services)
    if args.agent is not None:
        await check_agent_name(services, args.agent)
    sessions = await services.agents.list_sessions(
        pane=await resolve_pane_id(services, args.pane),
        agent=args.agent,
        since=results.parse_time_filter(args.since, now),
        limit=args.limit,
    )
    items = tuple(_build_item(session, identities[session.pane], now) for session in sessions)
    if args.history:
        histories = await fetch_histories(sessions, lambda action: services.gate.run(action, Preconditions()))
        items = tuple(replace(item, history=history) for item, history in zip(items, histories, strict=True))
    summary = AgentSessionsSummary(
        sessions=len(items),
        by_agent=results.count_values(item.agent for item in items),
        tokens=_sum_known(item.tokens for item in items),
        cost=_sum_known(item.cost for item in items),
        without_cost=sum(item.cost is None for item in items),
    )
    filters = results.build_filters(pane=args.pane, agent=args.agent, since=args.since)
    return AgentSessionListing(generated_at=format_timestamp(now), filters=filters, summary=summary, items=items)


def _build_item(session: AgentSession, pane_identity: PaneIdentity, now: int) -> AgentSessionItem:
    return results.copy_fields(
        AgentSessionItem,
        session,
        identity=pane_identity,
        external_id=redact(session.external_id),
        title=redact(session.title),
        model=redact(session.model),
        version=redact(session.version),
        cwd=redact(session.cwd),
        started_at=format_timestamp(session.started_at),
        ended_at=results.format_optional_timestamp(session.ended_at),
        seconds=compute_seconds_between(session.started_at, session.ended_at or now),
        tokens=session.usage.total,
        cost=session.usage.cost,
        by_model={redact(model): spent for model, spent in session.by_model.items()},
        resume=redact(shlex.join(session.resume)),
    )


async def fetch_histories(sessions: Sequence[AgentSession], run_program: ProgramRunner) -> list[CassHistory]:
    """Return one history for each session, in the same order."""
    if not is_installed(CASS_PROGRAM):
        return [CassHistory(status="not_installed") for _ in sessions]
    # Sessions are ordered oldest first.
    older = len(sessions) - MAX_SESSIONS_LOOKED_UP
    return [
        await _look_up_session(session, run_program)
        if number >= older
        else CassHistory(status="not_asked", detail=f"only the newest {MAX_SESSIONS_LOOKED_UP} sessions are looked up")
        for number, session in enumerate(sessions)
    ]


async def _look_up_session(session: AgentSession, run_program: ProgramRunner) -> CassHistory:
    history = CassHistory(status="nothing")
    # The id comes from the agent; if it starts with a dash, cass would parse it as an option.
    if session.external_id and not session.external_id.startswith("-"):
        history = await _query_cass(("query", "--session-id", session.external_id), "session_id", run_program)
    if history.status == "nothing" and session.cwd.startswith("/"):
        return await _query_cass(("search", "--path", session.cwd, "--agent", session.agent), "path", run_program)
    return history


async def _query_cass(
    arguments: tuple[str, ...], key: Literal["session_id", "path"], run_program: ProgramRunner
) -> CassHistory:
    try:
        outcome = await run_program(RunProgram(argv=(CASS_PROGRAM, *arguments, "--format", "json")))
    # The policy may forbid running cass; the listing is useful without it.
    except Refused as error:
        return CassHistory(status="not_asked", detail=redact(error.message)[:500])
    output = outcome.answered
    if output is None:
        status: CassLookupStatus = "not_asked" if outcome.status == "suppressed" else "failed"
        return CassHistory(status=status, detail=redact(explain_missing_output(outcome, CASS_PROGRAM))[:500])
    if output.exit_status:
        last_line = output.errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
        detail = redact(last_line or f"exit status {output.exit_status}")[:500]
        return CassHistory(status="failed", key=key, detail=detail)
    try:
        answer = msgspec.json.decode(output.out) if output.out.strip() else None
    # cass is a third-party program: a change in its output must not make the listing fail.
    except msgspec.DecodeError:
        return CassHistory(status="failed", key=key, detail="its output is not JSON")
    return CassHistory(status="found" if answer else "nothing", key=key, answer=redact_values(answer) or None)


N = TypeVar("N", int, float)


def _sum_known(numbers: Iterable[N | None]) -> N | None:
    """Sum the numbers that are not None; return None if there are none."""
    known = [number for number in numbers if number is not None]
    return sum(known[1:], known[0]) if known else None


def format_tokens(tokens: int | None) -> str:
    return "unknown" if tokens is None else f"{tokens:,}"


COLUMNS = (
    TableColumn("ID", lambda item: str(item.id), is_right_aligned=True, style="bold"),
    TableColumn("PANE", lambda item: str(item.identity.id), is_right_aligned=True),
    TableColumn("AGENT", lambda item: item.agent, style="cyan"),
    TableColumn("MODEL", lambda item: item.model or "-", can_shrink=True, worth=4),
    TableColumn("STARTED", lambda item: item.started_at, worth=7, kind="time"),
    TableColumn("DURATION", lambda item: format_age(item.seconds), is_right_aligned=True, worth=6),
    TableColumn("END", lambda item: item.end_reason or ("-" if item.ended_at is None else "ended")),
    TableColumn("TOKENS", lambda item: format_tokens(item.tokens), is_right_aligned=True, worth=3),
    TableColumn(
        "COST", lambda item: format_dollars(item.cost, is_estimated=item.usage.is_estimated), is_right_aligned=True
    ),
    TableColumn("TITLE", lambda item: item.title, can_shrink=True, min_width=16, worth=8),
    TableColumn("RESUME", lambda item: item.resume or "-", can_shrink=True, style="dim", min_width=20, worth=2),
)


def render_text(result: AgentSessionListing, options: RenderOptions) -> str:
    rows = render_table(COLUMNS, result.items, options)
    if options.is_quiet:
        return rows
    summary = result.summary
    if not result.items:
        return "No sessions."
    histories = "".join(f"\n{_format_history(item, item.history)}" for item in result.items if item.history is not None)
    footer = f"{pluralize(summary.sessions, 'session')}, tokens {format_tokens(summary.tokens)}"
    footer += f", cost {format_dollars(summary.cost)}"
    if summary.cost is not None and summary.without_cost:
        footer += f" ({pluralize(summary.without_cost, 'session')} without a reported cost)"
    return f"{rows}{histories}\n\n{footer}"


_HISTORY_TEXTS = {
    "found": "found in cass by its {key}; use `visor robot agents sessions --history` to see the entry",
    "nothing": "not found in cass",
    "not_installed": "cass is not installed",
    "failed": "cass failed: {detail}",
    "not_asked": "{detail}",
}


def _format_history(item: AgentSessionItem, history: CassHistory) -> str:
    text = _HISTORY_TEXTS[history.status].format(key=history.key.replace("_", " "), detail=history.detail)
    return sanitize(f"session {item.id}: {text}")


OP = Operation(
    name="agents_sessions",
    summary="List agent sessions: model, tokens, cost, and the command that resumes each.",
    doc="""A session begins when an agent is recognized in a pane or starts a new conversation, and ends with it;
`end_reason` is `manual` (its user left it), `completed` (its program ended with its task), `limit_reached`, `error` (it
failed or was killed) or `pane_gone` (its pane was closed). Usage that an agent does not report is
unknown, never 0. A cost with a `~` is estimated from the setting `agent_prices`; without a price for the model it is
unknown.

`--history` looks up each session in the program `cass`, if it is installed: by the agent's own session id, else by the
directory in which it ran.""",
    run=run,
    render_text=render_text,
    examples=(
        OperationExample("agents sessions", "the newest sessions"),
        OperationExample("agents sessions --agent claude_code --since today", "today's sessions of one agent"),
        OperationExample("agents sessions -n 3 --history", "with their history in `cass`"),
        OperationExample("robot agents sessions --pane 7 -n 1", "the last session of pane 7, as JSON"),
    ),
)
