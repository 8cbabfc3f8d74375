"""The conversations of agents, from their beginning to their end: a fold over what was bound to each runtime. Pure.

A runtime always has one session that goes on. Another id that the agent tells begins the next one; an id that it told
before takes that one up again. An id that only its command line named gives way to its own word.
"""

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.tracking.token_usage import used
from termvisor.model.agent.agent_process import Runtime
from termvisor.model.agent.session import AgentSession, EndReason
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import AgentState
from termvisor.model.event import Scalar
from termvisor.model.ids import PaneId, RuntimeId, SessionId

_REASONS: dict[str, EndReason] = {
    "completed": "completed",
    "limit_reached": "limit_reached",
    "error": "error",
    "manual": "manual",
    "pane_gone": "pane_gone",
}
BY_ARGV = "process"
"""The source that tells what a command line says."""
_TOGETHER = 5 * 10**9
"""A pane and its program end within so many nanoseconds, whichever is noticed first."""

Resume = Callable[[str, str], tuple[str, ...]]
"""The argv that takes up a session again, for an agent and its id."""


class Story(Struct, frozen=True, kw_only=True):
    going_on: dict[RuntimeId, AgentSession] = {}
    left: dict[RuntimeId, tuple[AgentSession, ...]] = {}
    """Sessions that living runtimes had before."""
    broken_off: dict[PaneId, AgentSession] = {}
    """Sessions that ended in the middle of something, nobody said why: perhaps their pane is about to go."""
    presumed: frozenset[RuntimeId] = frozenset()
    """Whose session only their command line has named."""
    last: int = 0
    """The last number that was given."""


Told = tuple[Story, tuple[AgentSession, ...]]
"""The story, and the sessions that are another now."""


def began(story: Story, runtime: Runtime) -> Told:
    return _opened(
        story,
        AgentSession(
            runtime=runtime.id, pane=runtime.pane, agent=runtime.agent, cwd=runtime.cwd, started_at=runtime.started_at
        ),
    )


def heard(story: Story, runtime: RuntimeId, signal: Signal, resume: Resume) -> Told:
    """A signal that was bound to this runtime and counted."""
    session = story.going_on.get(runtime)
    if session is None:
        return story, ()
    changed: tuple[AgentSession, ...] = ()
    story, was_presumed = _presumed(story, session, signal)
    is_told = bool(signal.session) and not (signal.source == BY_ARGV and session.external_id)
    if is_told and signal.session != session.external_id:
        bare = replace(session, external_id="") if was_presumed else session
        story, changed = _named(story, bare, signal, resume)
        session = story.going_on[runtime]
    known = _informed(session, signal)
    if known == session:
        return story, changed
    others = tuple(one for one in changed if one.id != known.id)
    return replace(story, going_on={**story.going_on, runtime: known}), (*others, known)


def ended(story: Story, runtime: RuntimeId, at: int, reason: EndReason) -> Told:
    """The process is over. What the agent itself gave as reason stands."""
    session = story.going_on.get(runtime)
    if session is None:
        return story, ()
    over = replace(session, ended_at=at, end_reason=session.end_reason or reason)
    going_on = {number: one for number, one in story.going_on.items() if number != runtime}
    left = {number: ones for number, ones in story.left.items() if number != runtime}
    recent = {pane: one for pane, one in story.broken_off.items() if at - (one.ended_at or 0) <= _TOGETHER}
    if session.end_reason is None and reason == "manual":
        recent[session.pane] = over
    presumed = story.presumed - {runtime}
    return replace(story, going_on=going_on, left=left, broken_off=recent, presumed=presumed), (over,)


def pane_closed(story: Story, pane: PaneId, at: int) -> Told:
    """A pane that is closed ends its program first: what broke off just before was the pane's end."""
    session = story.broken_off.get(pane)
    if session is None or at - (session.ended_at or 0) > _TOGETHER:
        return story, ()
    others = {number: one for number, one in story.broken_off.items() if number != pane}
    return replace(story, broken_off=others), (replace(session, end_reason="pane_gone"),)


def why_ended(state: AgentState, *, is_pane_gone: bool) -> EndReason:
    """From the last that was known: an agent that left in the middle of something was made to."""
    if is_pane_gone:
        return "pane_gone"
    if state.flags.usage_limited:
        return "limit_reached"
    if state.value == "error":
        return "error"
    return "completed" if state.value in ("completed", "idle") else "manual"


def _opened(story: Story, session: AgentSession) -> Told:
    number = story.last + 1
    fresh = replace(session, id=SessionId(number))
    return replace(story, going_on={**story.going_on, fresh.runtime: fresh}, last=number), (fresh,)


def _presumed(story: Story, session: AgentSession, signal: Signal) -> tuple[Story, bool]:
    """After this signal, and whether the session's name was no more than presumed before."""
    before, own = story.presumed, {session.runtime}
    if not signal.session or (signal.source == BY_ARGV and session.external_id):
        return story, False
    after = before | own if signal.source == BY_ARGV else before - own
    return (story if after == before else replace(story, presumed=after)), session.runtime in before


def _named(story: Story, session: AgentSession, signal: Signal, resume: Resume) -> Told:
    argv = resume(session.agent, signal.session)
    if not session.external_id:
        known = replace(session, external_id=signal.session, resume=argv)
        return replace(story, going_on={**story.going_on, session.runtime: known}), (known,)
    over = replace(session, ended_at=signal.ingested_at, end_reason=session.end_reason or "completed")
    left = story.left.get(session.runtime, ())
    before = next((one for one in left if one.external_id == signal.session), None)
    others = tuple(one for one in left if one is not before)
    story = replace(story, left={**story.left, session.runtime: (*others, over)})
    if before is not None:
        again = replace(before, ended_at=None, end_reason=None)
        return replace(story, going_on={**story.going_on, session.runtime: again}), (over, again)
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
    story, fresh = _opened(story, bare)
    return story, (over, *fresh)


def _informed(session: AgentSession, signal: Signal) -> AgentSession:
    told = signal.payload
    is_own_title = bool(signal.title) and signal.tier == "deterministic"
    known = replace(
        session,
        title=(signal.title or "") if is_own_title else session.title,
        model=_text(told.get("model")) or session.model,
        version=_text(told.get("version")) or session.version,
        end_reason=_REASONS.get(_text(told.get("end_reason"))) or session.end_reason,
    )
    return used(known, told)


def _text(value: Scalar) -> str:
    return value if isinstance(value, str) else ""
