"""Where a conversation of an agent comes back: planned from what is known, and looked at again when its turn comes."""

import shlex
from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from termvisor.clock import NS
from termvisor.model.action.action import Action, SendText, Spawn
from termvisor.model.agent.session import AgentSession, AgentView
from termvisor.model.ids import PaneId
from termvisor.model.settings.agents import resume_command
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.services import World

Where = Literal["pane", "window", "session", ""]
BROKEN_OFF = ("pane_gone", "manual", "error")
"""How sessions ended that nobody ended on purpose."""
AMONG = 10_000
_TOGETHER = 60 * NS
"""A server that ends takes its agents with it within so long."""


class Return(Struct, frozen=True, kw_only=True):
    """How one session comes back; with ``skipped``, why it does not."""

    session: AgentSession
    where: Where = ""
    action: Action | None = None
    beside: PaneView | None = None
    command: tuple[str, ...] = ()
    skipped: str = ""


async def planned(world: World, session: AgentSession) -> Return:
    """As things stand now."""
    views, panes = await world.agents.views(), await world.fleet.panes(gone=True)
    command = resume_command(world.configuration[1], session.agent, session.external_id) or session.resume
    return plan(session, command, panes, views)


def plan(
    session: AgentSession, command: tuple[str, ...], panes: Sequence[PaneView], views: dict[PaneId, AgentView]
) -> Return:
    """In the shell that it left, if that is at its prompt; else beside where it was; else in a session of that name."""
    if here := lives_in(session, views):
        return Return(session=session, skipped=f"it goes on in pane {here}")
    if not command:
        return Return(session=session, skipped="nothing takes it up again")
    was = next((one for one in panes if one.id == session.pane), None)
    living = [one for one in panes if one.gone_at is None]
    if was is not None and was in living and _is_free(was, views):
        text = _typed(session, command, was)
        action = SendText(pane=was.id, text=text)
        return Return(session=session, where="pane", action=action, beside=was, command=command)
    return _elsewhere(session, command, was, living)


def lives_in(session: AgentSession, views: dict[PaneId, AgentView]) -> PaneId | None:
    """The pane in which it goes on."""
    for pane, view in views.items():
        known = view.session
        if known is not None and (known.id == session.id or known.external_id == session.external_id != ""):
            return pane
    return None


def broken_off(sessions: Iterable[AgentSession], panes: Sequence[PaneView] = ()) -> list[AgentSession]:
    """The last of each conversation, where that ended without being ended on purpose."""
    last = {(one.agent, one.external_id): one for one in sessions if one.external_id}
    lost = _lost(panes)
    return [one for one in last.values() if one.ended_at is not None and _is_broken(one, one.ended_at, lost)]


def nameless(sessions: Iterable[AgentSession], panes: Sequence[PaneView] = ()) -> list[Return]:
    """Those that broke off just so, and of which nobody knows by what name they could be taken up."""
    lost = _lost(panes)
    found = [one for one in sessions if not one.external_id and one.ended_at is not None]
    why = "its agent told no session by which it could be taken up again"
    return [Return(session=one, skipped=why) for one in found if _is_broken(one, one.ended_at or 0, lost)]


def _lost(panes: Sequence[PaneView]) -> dict[PaneId, int]:
    """The panes that went away with their whole server, and when."""
    running = {one.instance.server for one in panes if one.gone_at is None}
    return {one.id: one.gone_at for one in panes if one.gone_at is not None and one.instance.server not in running}


def _is_broken(session: AgentSession, ended_at: int, lost: dict[PaneId, int]) -> bool:
    """An agent at rest that is hung up says that it has completed: it ended with its server all the same."""
    went = lost.get(session.pane)
    is_lost = went is not None and abs(went - ended_at) <= _TOGETHER
    return session.end_reason in BROKEN_OFF or (is_lost and session.end_reason == "completed")


def _is_free(pane: PaneView, views: dict[PaneId, AgentView]) -> bool:
    return pane.activity.kind == "prompt" and pane.id not in views and not pane.facts.dead


def _typed(session: AgentSession, command: tuple[str, ...], pane: PaneView) -> str:
    words = shlex.join(command)
    is_there = not session.cwd or session.cwd == pane.facts.cwd
    return words if is_there else f"cd {shlex.quote(session.cwd)} && {words}"


def _elsewhere(
    session: AgentSession, command: tuple[str, ...], was: PaneView | None, living: Sequence[PaneView]
) -> Return:
    if not living:
        return Return(session=session, skipped="no tmux server runs; start one first", command=command)
    place = None if was is None else (was.instance.server.socket, was.facts.session_name)
    near = [one for one in living if (one.instance.server.socket, one.facts.session_name) == place]
    if near:
        action = Spawn(where="window", beside=near[0].id, command=command, cwd=session.cwd, keeps_failure=True)
        return Return(session=session, where="window", action=action, beside=near[0], command=command)
    sockets = [one.instance.server.socket for one in living]
    server = place[0] if place is not None and place[0] in sockets else sockets[0]
    name = place[1] if place is not None and place[1] else session.agent
    action = Spawn(where="session", server=server, session=name, command=command, cwd=session.cwd, keeps_failure=True)
    return Return(session=session, where="session", action=action, command=command)
