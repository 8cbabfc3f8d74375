"""The conversations of agents, from their beginning to their end: a fold over what was bound to each runtime. Pure.

A runtime always has one session that goes on. Another id that the agent tells begins the next one; an id that it told
before takes that one up again. An id that only its command line named gives way to its own word.
"""

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.tracking.token_usage import apply_usage
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.agent.session import AgentSession, EndReason
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import AgentState
from termvisor.model.event import Scalar
from termvisor.model.ids import PaneId, RuntimeId, SessionId

_END_REASONS: dict[str, EndReason] = {
    "completed": "completed",
    "limit_reached": "limit_reached",
    "error": "error",
    "manual": "manual",
    "pane_gone": "pane_gone",
}
ARGV_SOURCE = "process"
"""The source that tells what a command line says."""
_PANE_CLOSE_WINDOW_NS = 5 * 10**9
"""A pane and its program end within so many nanoseconds, whichever is noticed first."""

ResumeCommandBuilder = Callable[[str, str], tuple[str, ...]]
"""The argv that takes up a session again, for an agent and its id."""


class AgentSessions(Struct, frozen=True, kw_only=True):
    going_on: dict[RuntimeId, AgentSession] = {}
    left: dict[RuntimeId, tuple[AgentSession, ...]] = {}
    """Sessions that living runtimes had before."""
    broken_off: dict[PaneId, AgentSession] = {}
    """Sessions that ended in the middle of something, nobody said why: perhaps their pane is about to go."""
    presumed: frozenset[RuntimeId] = frozenset()
    """Whose session only their command line has named."""
    last: int = 0
    """The last number that was given."""


SessionUpdate = tuple[AgentSessions, tuple[AgentSession, ...]]
"""The story, and the sessions that are another now."""


def start_session(agent_sessions: AgentSessions, agent_process: AgentProcess) -> SessionUpdate:
    return _open_session(
        agent_sessions,
        AgentSession(
            runtime=agent_process.id,
            pane=agent_process.pane,
            agent=agent_process.agent,
            cwd=agent_process.cwd,
            started_at=agent_process.started_at,
        ),
    )


def apply_session_signal(
    agent_sessions: AgentSessions,
    agent_process_id: RuntimeId,
    signal: Signal,
    build_resume_command: ResumeCommandBuilder,
) -> SessionUpdate:
    """A signal that was bound to this runtime and counted."""
    session = agent_sessions.going_on.get(agent_process_id)
    if session is None:
        return agent_sessions, ()
    changed: tuple[AgentSession, ...] = ()
    agent_sessions, was_presumed = _update_presumed(agent_sessions, session, signal)
    is_told = bool(signal.session) and not (signal.source == ARGV_SOURCE and session.external_id)
    if is_told and signal.session != session.external_id:
        bare = replace(session, external_id="") if was_presumed else session
        agent_sessions, changed = _switch_session(agent_sessions, bare, signal, build_resume_command)
        session = agent_sessions.going_on[agent_process_id]
    known = _merge_details(session, signal)
    if known == session:
        return agent_sessions, changed
    others = tuple(one for one in changed if one.id != known.id)
    return replace(agent_sessions, going_on={**agent_sessions.going_on, agent_process_id: known}), (*others, known)


def end_session(
    agent_sessions: AgentSessions, agent_process_id: RuntimeId, at: int, reason: EndReason
) -> SessionUpdate:
    """The process is over. What the agent itself gave as reason stands."""
    session = agent_sessions.going_on.get(agent_process_id)
    if session is None:
        return agent_sessions, ()
    over = replace(session, ended_at=at, end_reason=session.end_reason or reason)
    going_on = {number: one for number, one in agent_sessions.going_on.items() if number != agent_process_id}
    left = {number: ones for number, ones in agent_sessions.left.items() if number != agent_process_id}
    recent = {
        pane: one
        for pane, one in agent_sessions.broken_off.items()
        if at - (one.ended_at or 0) <= _PANE_CLOSE_WINDOW_NS
    }
    if session.end_reason is None and reason == "manual":
        recent[session.pane] = over
    presumed = agent_sessions.presumed - {agent_process_id}
    return replace(agent_sessions, going_on=going_on, left=left, broken_off=recent, presumed=presumed), (over,)


def mark_pane_closed(agent_sessions: AgentSessions, pane: PaneId, at: int) -> SessionUpdate:
    """A pane that is closed ends its program first: what broke off just before was the pane's end."""
    session = agent_sessions.broken_off.get(pane)
    if session is None or at - (session.ended_at or 0) > _PANE_CLOSE_WINDOW_NS:
        return agent_sessions, ()
    others = {number: one for number, one in agent_sessions.broken_off.items() if number != pane}
    return replace(agent_sessions, broken_off=others), (replace(session, end_reason="pane_gone"),)


def derive_end_reason(state: AgentState, *, is_pane_gone: bool) -> EndReason:
    """From the last that was known: an agent that left in the middle of something was made to."""
    if is_pane_gone:
        return "pane_gone"
    if state.flags.usage_limited:
        return "limit_reached"
    if state.value == "error":
        return "error"
    return "completed" if state.value in ("completed", "idle") else "manual"


def _open_session(agent_sessions: AgentSessions, session: AgentSession) -> SessionUpdate:
    number = agent_sessions.last + 1
    fresh = replace(session, id=SessionId(number))
    return replace(agent_sessions, going_on={**agent_sessions.going_on, fresh.runtime: fresh}, last=number), (fresh,)


def _update_presumed(
    agent_sessions: AgentSessions, session: AgentSession, signal: Signal
) -> tuple[AgentSessions, bool]:
    """After this signal, and whether the session's name was no more than presumed before."""
    before, own = agent_sessions.presumed, {session.runtime}
    if not signal.session or (signal.source == ARGV_SOURCE and session.external_id):
        return agent_sessions, False
    after = before | own if signal.source == ARGV_SOURCE else before - own
    return (agent_sessions if after == before else replace(agent_sessions, presumed=after)), session.runtime in before


def _switch_session(
    agent_sessions: AgentSessions, session: AgentSession, signal: Signal, build_resume_command: ResumeCommandBuilder
) -> SessionUpdate:
    argv = build_resume_command(session.agent, signal.session)
    if not session.external_id:
        known = replace(session, external_id=signal.session, resume=argv)
        return replace(agent_sessions, going_on={**agent_sessions.going_on, session.runtime: known}), (known,)
    over = replace(session, ended_at=signal.ingested_at, end_reason=session.end_reason or "completed")
    left = agent_sessions.left.get(session.runtime, ())
    before = next((one for one in left if one.external_id == signal.session), None)
    others = tuple(one for one in left if one is not before)
    agent_sessions = replace(agent_sessions, left={**agent_sessions.left, session.runtime: (*others, over)})
    if before is not None:
        again = replace(before, ended_at=None, end_reason=None)
        return replace(agent_sessions, going_on={**agent_sessions.going_on, session.runtime: again}), (over, again)
    bare = AgentSession(
        runtime=session.runtime,
        pane=session.pane,
        agent=session.agent,
        external_id=signal.session,
        version=session.version,
        cwd=session.cwd,
        started_at=signal.ingested_at,
        resume=argv,
    )
    agent_sessions, fresh = _open_session(agent_sessions, bare)
    return agent_sessions, (over, *fresh)


def _merge_details(session: AgentSession, signal: Signal) -> AgentSession:
    told = signal.payload
    is_own_title = bool(signal.title) and signal.tier == "deterministic"
    known = replace(
        session,
        title=(signal.title or "") if is_own_title else session.title,
        model=_get_text(told.get("model")) or session.model,
        version=_get_text(told.get("version")) or session.version,
        end_reason=_END_REASONS.get(_get_text(told.get("end_reason"))) or session.end_reason,
    )
    return apply_usage(known, told)


def _get_text(value: Scalar) -> str:
    return value if isinstance(value, str) else ""
