"""Find agent sessions that can be resumed, and plan where to start each one.

A plan prefers the shell that the agent left, then a new window of its tmux session, then a new tmux session. A new plan
is made right before execution, because the pane may have changed since the user saw the first plan.
"""

import shlex
from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from termvisor.clock import NS
from termvisor.errors import ObjectNotFound
from termvisor.model.action.action import Action, SendText, Spawn
from termvisor.model.agent.agent_view import AgentView
from termvisor.model.agent.session import AgentSession
from termvisor.model.ids import PaneId
from termvisor.model.settings.agents import build_resume_command
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.services import Services

ResumePlace = Literal["pane", "window", "session", ""]
# End reasons of sessions that were not closed on purpose.
INTERRUPTED_END_REASONS = ("pane_gone", "error")
MAX_SESSIONS_SEARCHED = 10_000
# An agent that ends this close to the exit of its tmux server is assumed to have been killed by it.
_SERVER_EXIT_WINDOW_NS = 60 * NS


class ResumePlan(Struct, frozen=True, kw_only=True):
    """Plan to resume one session. If it cannot be resumed, ``action`` is None and ``skip_reason`` is the reason."""

    session: AgentSession
    where: ResumePlace = ""
    action: Action | None = None
    nearby_pane: PaneView | None = None
    command: tuple[str, ...] = ()
    skip_reason: str = ""


async def find_session(services: Services, reference: str) -> AgentSession:
    """Return the newest session with this id, ours or the agent's own. Raises ObjectNotFound."""
    sessions = await services.agents.list_sessions(limit=MAX_SESSIONS_SEARCHED)
    matching = [session for session in sessions if reference in (str(session.id), session.external_id)]
    if not matching:
        raise ObjectNotFound(f"session {reference!r} not found", hint="`visor agents sessions` lists them.")
    # A resumed conversation keeps the id that its agent gave it; the newest session is the current one.
    return matching[-1]


def get_resume_command(services: Services, session: AgentSession) -> tuple[str, ...]:
    """Return the resume command from the setting `agent_resume`, or the agent's own; empty if neither is known."""
    return build_resume_command(services.configuration[1], session.agent, session.external_id) or session.resume


async def plan_resume(services: Services, session: AgentSession) -> ResumePlan:
    """Plan how to resume a session, given the current panes and agents."""
    # Otherwise the plan could name a pane that was closed just before.
    await services.panes.refresh()
    views, panes = await services.agents.list_views(), await services.panes.list_panes(include_gone=True)
    return choose_resume_place(session, get_resume_command(services, session), panes, views)


def choose_resume_place(
    session: AgentSession, command: tuple[str, ...], panes: Sequence[PaneView], views: dict[PaneId, AgentView]
) -> ResumePlan:
    """Choose the shell that the agent left if it is at its prompt; else a new window or tmux session."""
    if running_in := find_running_pane(session, views):
        return ResumePlan(session=session, skip_reason=f"already running in pane {running_in}")
    if not command:
        return ResumePlan(session=session, skip_reason="no resume command is known for it")
    former_pane = next((pane for pane in panes if pane.id == session.pane), None)
    if former_pane is not None and former_pane.gone_at is None and _is_free_prompt(former_pane, views):
        text = _build_command_line(session, command, former_pane)
        action = SendText(pane=former_pane.id, text=text)
        return ResumePlan(session=session, where="pane", action=action, nearby_pane=former_pane, command=command)
    return _plan_new_window(session, command, former_pane, [pane for pane in panes if pane.gone_at is None])


def find_running_pane(session: AgentSession, views: dict[PaneId, AgentView]) -> PaneId | None:
    """Return the pane in which the session is running now."""
    for pane, view in views.items():
        current = view.session
        if current is not None and (current.id == session.id or current.external_id == session.external_id != ""):
            return pane
    return None


# Users look for the agent in a window next to its old neighbours.
def find_pane_beside(former_pane: PaneView, live_panes: Iterable[PaneView]) -> PaneView | None:
    """Return a live pane in the former pane's tmux session."""
    place = (former_pane.instance.server.key, former_pane.facts.session_name)
    return next((pane for pane in live_panes if (pane.instance.server.key, pane.facts.session_name) == place), None)


def find_interrupted_sessions(sessions: Iterable[AgentSession], panes: Sequence[PaneView] = ()) -> list[AgentSession]:
    """Return the last session of each conversation that ended without being closed on purpose."""
    # Later sessions of a conversation replace the earlier ones.
    last = {(session.agent, session.external_id): session for session in sessions if session.external_id}
    lost_panes = _find_lost_panes(panes)
    return [session for session in last.values() if _is_interrupted(session, lost_panes)]


def find_unresumable_sessions(sessions: Iterable[AgentSession], panes: Sequence[PaneView] = ()) -> list[ResumePlan]:
    """Return a skipped plan for each interrupted session whose agent never reported a session id."""
    lost_panes, reason = _find_lost_panes(panes), "its agent reported no session id to resume"
    return [
        ResumePlan(session=session, skip_reason=reason)
        for session in sessions
        if not session.external_id and _is_interrupted(session, lost_panes)
    ]


def _find_lost_panes(panes: Sequence[PaneView]) -> dict[PaneId, int]:
    """Return the panes that ended together with their server, each with the time when it ended."""
    # A server without a live pane has exited: tmux ends with its last session.
    running = {pane.instance.server for pane in panes if pane.gone_at is None}
    return {pane.id: pane.gone_at for pane in panes if pane.gone_at and pane.instance.server not in running}


def _is_interrupted(session: AgentSession, lost_panes: dict[PaneId, int]) -> bool:
    if session.ended_at is None:
        return False
    # An idle agent reports `completed` on SIGHUP, so the exit of its server looks like an intentional end.
    lost_at = lost_panes.get(session.pane)
    is_lost = lost_at is not None and abs(lost_at - session.ended_at) <= _SERVER_EXIT_WINDOW_NS
    return session.end_reason in INTERRUPTED_END_REASONS or (is_lost and session.end_reason == "completed")


def _is_free_prompt(pane: PaneView, views: dict[PaneId, AgentView]) -> bool:
    # Anywhere else the command line would be typed into a running program.
    return pane.activity.kind == "prompt" and pane.id not in views and not pane.facts.dead


def _build_command_line(session: AgentSession, command: tuple[str, ...], pane: PaneView) -> str:
    line = shlex.join(command)
    is_in_folder = not session.cwd or session.cwd == pane.facts.cwd
    return line if is_in_folder else f"cd {shlex.quote(session.cwd)} && {line}"


def _plan_new_window(
    session: AgentSession, command: tuple[str, ...], former_pane: PaneView | None, live_panes: Sequence[PaneView]
) -> ResumePlan:
    if not live_panes:
        return ResumePlan(session=session, skip_reason="no tmux server is running; start one first", command=command)
    beside = None if former_pane is None else find_pane_beside(former_pane, live_panes)
    if beside is not None:
        # A window that failed stays open, so that `revive` can point to the error on its screen.
        action = Spawn(where="window", beside=beside.id, command=command, cwd=session.cwd, keeps_failure=True)
        return ResumePlan(session=session, where="window", action=action, nearby_pane=beside, command=command)
    servers = [pane.instance.server.key for pane in live_panes]
    server, name = servers[0], session.agent
    if former_pane is not None:
        server = former_pane.instance.server.key if former_pane.instance.server.key in servers else server
        name = former_pane.facts.session_name or name
    action = Spawn(
        where="session",
        target=server.target,
        server=server.address,
        session=name,
        command=command,
        cwd=session.cwd,
        keeps_failure=True,
    )
    return ResumePlan(session=session, where="session", action=action, command=command)
