"""Where a conversation of an agent comes back: planned from what is known, and looked at again when its turn comes."""

import shlex
from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from termvisor.clock import NS
from termvisor.model.action.action import Action, SendText, Spawn
from termvisor.model.agent.session import AgentSession, AgentView
from termvisor.model.ids import PaneId
from termvisor.model.settings.agents import build_resume_command
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.services import Services

ResumePlace = Literal["pane", "window", "session", ""]
INTERRUPTED_END_REASONS = ("pane_gone", "manual", "error")
"""How sessions ended that nobody ended on purpose."""
MAX_SESSIONS_SEARCHED = 10_000
_SERVER_EXIT_WINDOW_NS = 60 * NS
"""A server that ends takes its agents with it within so long."""


class ResumePlan(Struct, frozen=True, kw_only=True):
    """How one session comes back; with ``skipped``, why it does not."""

    session: AgentSession
    where: ResumePlace = ""
    action: Action | None = None
    nearby_pane: PaneView | None = None
    command: tuple[str, ...] = ()
    skip_reason: str = ""


async def plan_resume(services: Services, session: AgentSession) -> ResumePlan:
    """As things stand now."""
    views, panes = await services.agents.list_views(), await services.panes.list_panes(include_gone=True)
    command = build_resume_command(services.configuration[1], session.agent, session.external_id) or session.resume
    return choose_resume_place(session, command, panes, views)


def choose_resume_place(
    session: AgentSession, command: tuple[str, ...], panes: Sequence[PaneView], views: dict[PaneId, AgentView]
) -> ResumePlan:
    """In the shell that it left, if that is at its prompt; else beside where it was; else in a session of that name."""
    if here := find_running_pane(session, views):
        return ResumePlan(session=session, skip_reason=f"it goes on in pane {here}")
    if not command:
        return ResumePlan(session=session, skip_reason="nothing takes it up again")
    was = next((one for one in panes if one.id == session.pane), None)
    living = [one for one in panes if one.gone_at is None]
    if was is not None and was in living and _is_free_prompt(was, views):
        text = _build_command_line(session, command, was)
        action = SendText(pane=was.id, text=text)
        return ResumePlan(session=session, where="pane", action=action, nearby_pane=was, command=command)
    return _plan_new_window(session, command, was, living)


def find_running_pane(session: AgentSession, views: dict[PaneId, AgentView]) -> PaneId | None:
    """The pane in which it goes on."""
    for pane, view in views.items():
        known = view.session
        if known is not None and (known.id == session.id or known.external_id == session.external_id != ""):
            return pane
    return None


def find_interrupted_sessions(sessions: Iterable[AgentSession], panes: Sequence[PaneView] = ()) -> list[AgentSession]:
    """The last of each conversation, where that ended without being ended on purpose."""
    last = {(one.agent, one.external_id): one for one in sessions if one.external_id}
    lost = _find_lost_panes(panes)
    return [one for one in last.values() if one.ended_at is not None and _is_interrupted(one, one.ended_at, lost)]


def find_unresumable_sessions(sessions: Iterable[AgentSession], panes: Sequence[PaneView] = ()) -> list[ResumePlan]:
    """Those that broke off just so, and of which nobody knows by what name they could be taken up."""
    lost = _find_lost_panes(panes)
    found = [one for one in sessions if not one.external_id and one.ended_at is not None]
    why = "its agent told no session by which it could be taken up again"
    return [ResumePlan(session=one, skip_reason=why) for one in found if _is_interrupted(one, one.ended_at or 0, lost)]


def _find_lost_panes(panes: Sequence[PaneView]) -> dict[PaneId, int]:
    """The panes that went away with their whole server, and when."""
    running = {one.instance.server for one in panes if one.gone_at is None}
    return {one.id: one.gone_at for one in panes if one.gone_at is not None and one.instance.server not in running}


def _is_interrupted(session: AgentSession, ended_at: int, lost_panes: dict[PaneId, int]) -> bool:
    """An agent at rest that is hung up says that it has completed: it ended with its server all the same."""
    went = lost_panes.get(session.pane)
    is_lost = went is not None and abs(went - ended_at) <= _SERVER_EXIT_WINDOW_NS
    return session.end_reason in INTERRUPTED_END_REASONS or (is_lost and session.end_reason == "completed")


def _is_free_prompt(pane: PaneView, views: dict[PaneId, AgentView]) -> bool:
    return pane.activity.kind == "prompt" and pane.id not in views and not pane.facts.dead


def _build_command_line(session: AgentSession, command: tuple[str, ...], pane: PaneView) -> str:
    words = shlex.join(command)
    is_there = not session.cwd or session.cwd == pane.facts.cwd
    return words if is_there else f"cd {shlex.quote(session.cwd)} && {words}"


def _plan_new_window(
    session: AgentSession, command: tuple[str, ...], former_pane: PaneView | None, live_panes: Sequence[PaneView]
) -> ResumePlan:
    if not live_panes:
        return ResumePlan(session=session, skip_reason="no tmux server runs; start one first", command=command)
    place = None if former_pane is None else (former_pane.instance.server.socket, former_pane.facts.session_name)
    near = [one for one in live_panes if (one.instance.server.socket, one.facts.session_name) == place]
    if near:
        action = Spawn(where="window", beside=near[0].id, command=command, cwd=session.cwd, keeps_failure=True)
        return ResumePlan(session=session, where="window", action=action, nearby_pane=near[0], command=command)
    sockets = [one.instance.server.socket for one in live_panes]
    server = place[0] if place is not None and place[0] in sockets else sockets[0]
    name = place[1] if place is not None and place[1] else session.agent
    action = Spawn(where="session", server=server, session=name, command=command, cwd=session.cwd, keeps_failure=True)
    return ResumePlan(session=session, where="session", action=action, command=command)
