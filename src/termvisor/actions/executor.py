"""Execute admitted actions other than text: keys, signals, new panes, titles, reservations, programs, notifications."""

from collections.abc import Callable
from typing import Literal, Protocol

from msgspec.structs import replace

from termvisor.actions.agent_commands import AgentCommander, AgentRoutes
from termvisor.actions.input_line import find_guard_piece
from termvisor.actions.pane_snapshot import PaneSnapshot
from termvisor.actions.preconditions import AgentAction, build_guard_error
from termvisor.actions.run_program import run_program
from termvisor.backends.pane_control import AppliedPaneChange, GuardMismatch, PaneControl
from termvisor.clock import Clock
from termvisor.errors import NotFound, Unsupported
from termvisor.model.action.action import (
    Action,
    Activate,
    AnswerAgent,
    AskPerson,
    Attach,
    Kill,
    Notify,
    Release,
    Reserve,
    RunProgram,
    RunWorkflow,
    SendKeys,
    SetTitle,
    Spawn,
    get_action_kind,
)
from termvisor.model.action.approval import Reservation
from termvisor.model.action.outcome import Outcome
from termvisor.model.event import Scalar
from termvisor.redaction import redact

_MAX_TITLE_CHARS = 500
"""Longer titles are not stored, so setting a title cannot be undone then."""


class ExecutorRoutes(AgentRoutes, Protocol):
    """The connections that actions use."""

    async def get_server_control(self, socket: str) -> PaneControl:
        """Return the tmux server on this socket, or the only one. Raises ``NotFound``."""

    def send_signal(self, snapshot: PaneSnapshot, name: str) -> int:
        """Signal the foreground process group of a pane and return its id. Raises ``StaleSnapshot``."""

    async def reserve(self, action: Reserve) -> tuple[Reservation, bool]:
        """Return the valid reservation, and whether it is new. Raises ``Conflict``."""

    async def release(self, action: Release) -> None:
        """Release the reservation. Raises ``StaleSnapshot`` if it does not exist."""


class NotificationSender(Protocol):
    async def send_notification(self, action: Notify, correlation: str) -> Outcome:
        """Send it and return the outcome; a failure is an outcome too."""


AccountPrefix = Callable[[str], tuple[str, ...]]
"""Returns the argv prefix that starts a command under an account. Raises ``NotFound``."""


def _reject_account(account: str) -> tuple[str, ...]:
    raise NotFound(f"account {account!r} not found")


class ActionExecutor:
    def __init__(
        self,
        routes: ExecutorRoutes,
        clock: Clock,
        notifier: NotificationSender | None = None,
        get_account_prefix: AccountPrefix = _reject_account,
    ):
        self._routes, self._notifier, self._get_account_prefix = routes, notifier, get_account_prefix
        self._agent_commander = AgentCommander(routes, clock)

    async def execute(self, action: Action, snapshot: PaneSnapshot | None, correlation: str = "") -> Outcome:
        """Execute the action. Raises ``StaleSnapshot`` if the pane changed since the snapshot and nothing was done."""
        if isinstance(action, Notify) and self._notifier is not None:
            return await self._notifier.send_notification(action, correlation)
        if isinstance(action, Spawn):
            return await self._spawn(action, snapshot)
        if isinstance(action, Reserve | Release):
            return await self._change_reservation(action)
        if isinstance(action, AnswerAgent):
            return await self._agent_commander.deliver_approval(action, snapshot)
        if isinstance(action, RunProgram):
            return await run_program(action)
        if isinstance(action, AskPerson | RunWorkflow):
            return Outcome(status="done", pane=action.pane)  # the caller goes on once the gate allowed it
        if snapshot is None:
            raise NotFound(f"{get_action_kind(action)} needs a pane, and none was found")
        return await self._execute_in_pane(action, snapshot)

    async def _execute_in_pane(self, action: Action, snapshot: PaneSnapshot) -> Outcome:
        if isinstance(action, SendKeys):
            return await self._press_keys(action, snapshot)
        if isinstance(action, AgentAction):
            return await self._agent_commander.execute(action, snapshot)
        if isinstance(action, Kill):
            return await self._kill(action, snapshot)
        if isinstance(action, Activate):
            return await self._alter_pane(snapshot, "activate")
        if isinstance(action, Attach):
            return Outcome(status="done", pane=action.pane)  # the caller's own terminal does it
        if isinstance(action, SetTitle):
            return await self._alter_pane(snapshot, "title", action.title)
        raise Unsupported(f"{get_action_kind(action)} is not supported here")

    async def _spawn(self, action: Spawn, snapshot: PaneSnapshot | None) -> Outcome:
        if action.account:
            action = replace(action, command=(*self._get_account_prefix(action.account), *action.command))
        if snapshot is None:
            mux_pane, pid = await (await self._routes.get_server_control(action.server)).open_pane(action, None)
        else:
            session = action.session or snapshot.view.facts.session_id
            action = replace(action, session=session) if action.where == "window" else action
            mux_pane, pid = await self._routes.get_control(snapshot.view.id).open_pane(action, snapshot.pane_state.pane)
        return Outcome(status="done", mux_pane=mux_pane, pid=pid, former={"mux_pane": mux_pane, "pid": pid})

    async def _press_keys(self, action: SendKeys, snapshot: PaneSnapshot) -> Outcome:
        piece = ""
        # Keys that clear a typed text are pressed only while that text is still on the screen.
        if snapshot.undo_target is not None and snapshot.undo_target.is_typed and snapshot.typed_input:
            piece = find_guard_piece(snapshot.typed_input.before, snapshot.pane_state.width)
        mismatch = await self._routes.get_control(action.pane).press(snapshot.build_guard(piece), action.keys)
        if mismatch is not None:
            raise build_guard_error(mismatch)
        return Outcome(status="done", pane=snapshot.view.id)

    async def _change_reservation(self, action: Reserve | Release) -> Outcome:
        if isinstance(action, Release):
            await self._routes.release(action)
            return Outcome(status="done", pane=action.pane)
        reservation, is_new = await self._routes.reserve(action)
        former: dict[str, Scalar] = {"reservation": reservation.id, "is_longer": not is_new}
        return Outcome(status="done", pane=action.pane, former=former)

    async def _kill(self, action: Kill, snapshot: PaneSnapshot) -> Outcome:
        if action.closes_pane:
            return await self._alter_pane(snapshot, "close")
        group = self._routes.send_signal(snapshot, action.signal)
        return Outcome(status="done", pane=action.pane, pid=group, text=f"SIG{action.signal} was sent")

    async def _alter_pane(
        self, snapshot: PaneSnapshot, change: Literal["activate", "title", "close"], value: str = ""
    ) -> Outcome:
        # The program in the pane does not matter here: no input is sent to it.
        guard = replace(snapshot.build_guard(), command=None, alternate=None, takes_input=False)
        applied = await self._routes.get_control(snapshot.view.id).change_pane(guard, change, value)
        if isinstance(applied, GuardMismatch):
            raise build_guard_error(applied)
        return Outcome(status="done", pane=snapshot.view.id, former=_collect_former_values(applied, change))


def _collect_former_values(
    former: AppliedPaneChange, change: Literal["activate", "title", "close"]
) -> dict[str, Scalar]:
    """Return the values that the audit log needs for undo; a title with a secret in it is not stored."""
    if change == "activate":
        return {"former_front": former.old_front}
    titles = {"former_title": former.old_title, "title": former.new_title} if change == "title" else {}
    return {name: title for name, title in titles.items() if redact(title) == title and len(title) <= _MAX_TITLE_CHARS}
