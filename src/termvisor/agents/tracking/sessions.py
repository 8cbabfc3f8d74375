"""Track the sessions (conversations) of agent processes by folding the signals bound to each process. Pure.

An agent process always has one open session. A new session id from the agent starts the next session, and an id that
it reported before resumes that session. An id from the command line is replaced by the first one the agent reports.
"""

from collections.abc import Callable
from typing import get_args

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.tracking.token_usage import apply_usage
from termvisor.model.agent.agent_process import AgentExited, AgentProcess, Fact, PaneClosed
from termvisor.model.agent.session import AgentSession, EndReason
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import AgentState
from termvisor.model.event import Scalar
from termvisor.model.ids import PaneId, RuntimeId, SessionId

_END_REASONS: dict[str, EndReason] = {reason: reason for reason in get_args(EndReason)}
# The source of signals that are read from a command line.
ARGV_SOURCE = "process"
# A pane and its program end within this time of each other, in either order.
_PANE_CLOSE_WINDOW_NS = 5 * 10**9
# A program that runs one task and exits does so within this time of its end.
_TASK_END_NS = 2 * 10**9
_SIGNAL_EXIT_BASE = 128
# A normal exit, and Ctrl-C (SIGINT).
_USER_EXIT_CODES = (0, 130)

ResumeCommandBuilder = Callable[[str, str], tuple[str, ...]]
"""Return the argv that resumes a session, by agent and session id."""


class SessionEnd(Struct, frozen=True):
    """Why a session ended, as far as its process shows."""

    reason: EndReason
    is_proven: bool = False
    """True if that remains so if its pane closes now."""
    is_forced: bool = False
    """True if the process was killed, whatever the agent reported."""


class AgentSessions(Struct, frozen=True, kw_only=True):
    open_sessions: dict[RuntimeId, AgentSession] = {}
    earlier_sessions: dict[RuntimeId, tuple[AgentSession, ...]] = {}
    """Earlier sessions of running agent processes."""
    abrupt_ends: dict[PaneId, AgentSession] = {}
    """Sessions that ended without a reason, and whose agent its user may not have left: their pane may be closing."""
    presumed: frozenset[RuntimeId] = frozenset()
    """Agent processes whose session id was taken from the command line."""
    last_session_id: int = 0
    """The last allocated session id."""


SessionUpdate = tuple[AgentSessions, tuple[AgentSession, ...]]
"""The updated sessions, and those of them that changed."""


def start_session(sessions: AgentSessions, agent_process: AgentProcess) -> SessionUpdate:
    return _open_session(
        sessions,
        AgentSession(
            runtime=agent_process.id,
            pane=agent_process.pane,
            agent=agent_process.agent,
            cwd=agent_process.cwd,
            started_at=agent_process.started_at,
        ),
    )


def apply_session_signal(
    sessions: AgentSessions, agent_process_id: RuntimeId, signal: Signal, build_resume_command: ResumeCommandBuilder
) -> SessionUpdate:
    """Apply a signal that was bound to this agent process."""
    session = sessions.open_sessions.get(agent_process_id)
    if session is None:
        return sessions, ()
    changed: tuple[AgentSession, ...] = ()
    sessions, was_presumed = _update_presumed(sessions, session, signal)
    is_reported = bool(signal.session) and not (signal.source == ARGV_SOURCE and session.external_id)
    if is_reported and signal.session != session.external_id:
        bare = replace(session, external_id="") if was_presumed else session
        sessions, changed = _switch_session(sessions, bare, signal, build_resume_command)
        session = sessions.open_sessions[agent_process_id]
    updated = _merge_details(session, signal)
    if updated == session:
        return sessions, changed
    others = tuple(one for one in changed if one.id != updated.id)
    return _set_open_session(sessions, updated), (*others, updated)


def end_session(sessions: AgentSessions, agent_process_id: RuntimeId, at: int, end: SessionEnd) -> SessionUpdate:
    """Close the session of an exited process; an end reason reported by the agent is kept unless it is disproved."""
    session = sessions.open_sessions.get(agent_process_id)
    if session is None:
        return sessions, ()
    # Some agents report on a signal that they were left.
    is_kept = session.end_reason is not None and not end.is_forced
    closed = replace(session, ended_at=at, end_reason=session.end_reason if is_kept else end.reason)
    open_sessions = {number: one for number, one in sessions.open_sessions.items() if number != agent_process_id}
    earlier_sessions = {
        number: earlier for number, earlier in sessions.earlier_sessions.items() if number != agent_process_id
    }
    abrupt_ends = {
        pane: one for pane, one in sessions.abrupt_ends.items() if at - (one.ended_at or 0) <= _PANE_CLOSE_WINDOW_NS
    }
    # A closing pane ends its program first, so keep the session to correct its end reason.
    if not is_kept and not end.is_proven:
        abrupt_ends[session.pane] = closed
    presumed = sessions.presumed - {agent_process_id}
    return replace(
        sessions,
        open_sessions=open_sessions,
        earlier_sessions=earlier_sessions,
        abrupt_ends=abrupt_ends,
        presumed=presumed,
    ), (closed,)


def mark_pane_closed(sessions: AgentSessions, pane: PaneId, at: int) -> SessionUpdate:
    """Correct the end reason of a session that ended just before its pane closed."""
    session = sessions.abrupt_ends.get(pane)
    if session is None or at - (session.ended_at or 0) > _PANE_CLOSE_WINDOW_NS:
        return sessions, ()
    others = {number: one for number, one in sessions.abrupt_ends.items() if number != pane}
    return replace(sessions, abrupt_ends=others), (replace(session, end_reason="pane_gone"),)


def derive_session_end(state: AgentState, fact: Fact, at: int) -> SessionEnd:
    """Derive why a session ended from how its process exited, or from its last state if that is unknown.

    A user leaves an agent with exit code 0 or Ctrl-C. Any other exit, and one during work, is an error.
    """
    exit_code = fact.exit_code if isinstance(fact, AgentExited) else None
    is_killed = exit_code is not None and exit_code > _SIGNAL_EXIT_BASE and exit_code not in _USER_EXIT_CODES
    if isinstance(fact, PaneClosed) or (isinstance(fact, AgentExited) and fact.is_pane_closing):
        return SessionEnd("pane_gone", is_proven=True, is_forced=is_killed)
    if state.flags.usage_limited and not is_killed:
        return SessionEnd("limit_reached", is_proven=True)
    if exit_code is not None and exit_code not in _USER_EXIT_CODES:
        return SessionEnd("error", is_forced=is_killed)
    is_proven = exit_code is not None
    if state.value == "completed" and at - (state.since or 0) <= _TASK_END_NS:
        return SessionEnd("completed", is_proven=True)
    if is_proven or state.value in ("completed", "idle"):
        return SessionEnd("manual", is_proven=is_proven)
    return SessionEnd("error", is_proven=state.value == "error")


def _open_session(sessions: AgentSessions, session: AgentSession) -> SessionUpdate:
    number = sessions.last_session_id + 1
    opened = replace(session, id=SessionId(number))
    return replace(_set_open_session(sessions, opened), last_session_id=number), (opened,)


def _set_open_session(sessions: AgentSessions, session: AgentSession) -> AgentSessions:
    return replace(sessions, open_sessions={**sessions.open_sessions, session.runtime: session})


def _update_presumed(sessions: AgentSessions, session: AgentSession, signal: Signal) -> tuple[AgentSessions, bool]:
    """Return the sessions after this signal, and whether the session id was only presumed before."""
    before, own = sessions.presumed, {session.runtime}
    if not signal.session or (signal.source == ARGV_SOURCE and session.external_id):
        return sessions, False
    after = before | own if signal.source == ARGV_SOURCE else before - own
    return (sessions if after == before else replace(sessions, presumed=after)), session.runtime in before


def _switch_session(
    sessions: AgentSessions, session: AgentSession, signal: Signal, build_resume_command: ResumeCommandBuilder
) -> SessionUpdate:
    argv = build_resume_command(session.agent, signal.session)
    # The first id names the session that began with the process; only the next one starts another.
    if not session.external_id:
        named = replace(session, external_id=signal.session, resume=argv)
        return _set_open_session(sessions, named), (named,)
    closed = replace(session, ended_at=signal.ingested_at, end_reason=session.end_reason or "completed")
    earlier = sessions.earlier_sessions.get(session.runtime, ())
    match = next((one for one in earlier if one.external_id == signal.session), None)
    others = tuple(one for one in earlier if one is not match)
    sessions = replace(sessions, earlier_sessions={**sessions.earlier_sessions, session.runtime: (*others, closed)})
    if match is not None:
        resumed = replace(match, ended_at=None, end_reason=None)
        return _set_open_session(sessions, resumed), (closed, resumed)
    new_session = AgentSession(
        runtime=session.runtime,
        pane=session.pane,
        agent=session.agent,
        external_id=signal.session,
        version=session.version,
        cwd=session.cwd,
        started_at=signal.ingested_at,
        resume=argv,
    )
    sessions, opened = _open_session(sessions, new_session)
    return sessions, (closed, *opened)


def _merge_details(session: AgentSession, signal: Signal) -> AgentSession:
    payload = signal.payload
    is_own_title = bool(signal.title) and signal.tier == "deterministic"
    updated = replace(
        session,
        title=(signal.title or "") if is_own_title else session.title,
        model=_get_text(payload.get("model")) or session.model,
        version=_choose_version(session, signal),
        end_reason=_END_REASONS.get(_get_text(payload.get("end_reason"))) or session.end_reason,
    )
    return apply_usage(updated, payload)


def _choose_version(session: AgentSession, signal: Signal) -> str:
    """Return the version of the program. What the agent reports itself replaces what was inferred."""
    version = _get_text(signal.payload.get("version"))
    return version if version and (signal.tier == "deterministic" or not session.version) else session.version


def _get_text(value: Scalar) -> str:
    return value if isinstance(value, str) else ""
