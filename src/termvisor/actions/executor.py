"""Does what is neither text nor a question: keys, programs, signals, places on the screen, notifications."""

from collections.abc import Callable
from typing import Literal, Protocol

from msgspec.structs import replace

from termvisor.actions import agent_commands, run_program
from termvisor.actions.input_line import find_guard_piece
from termvisor.actions.preconditions import AgentAction, PaneSnapshot
from termvisor.backends.pane_control import AppliedPaneChange, GuardMismatch, PaneControl
from termvisor.clock import Clock
from termvisor.errors import NotFound, StaleSnapshot, Unsupported
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
"""Characters of a title that are kept; a longer one cannot be given back."""


class ExecutorRoutes(agent_commands.AgentRoutes, Protocol):
    """How the world is reached."""

    async def get_server_control(self, socket: str) -> PaneControl:
        """The server on this socket, or the only one there is; raises ``NotFound``."""

    def send_signal(self, snapshot: PaneSnapshot, name: str) -> int:
        """Send a signal to the foreground process group of a pane; its number. Raises ``StaleSnapshot``."""

    async def reserve(self, action: Reserve) -> tuple[Reservation, bool]:
        """The reservation that holds now, and whether it was made just now. Raises ``Conflict``."""

    async def release(self, action: Release) -> None:
        """Raises ``StaleSnapshot`` where there is nothing to release."""


class NotificationSender(Protocol):
    """How people are reached."""

    async def send_notification(self, action: Notify, correlation: str) -> Outcome:
        """What came of it; that it did not work is an outcome too."""


AccountPrefix = Callable[[str], tuple[str, ...]]
"""The words before a command that start it under an account; raises ``NotFound``."""


def _reject_account(account: str) -> tuple[str, ...]:
    raise NotFound(f"there is no account {account!r}")


class ActionExecutor:
    def __init__(
        self,
        routes: ExecutorRoutes,
        clock: Clock,
        notifier: NotificationSender | None = None,
        get_account_prefix: AccountPrefix = _reject_account,
    ):
        self._routes, self._notifier, self._agent_commander = (
            routes,
            notifier,
            agent_commands.AgentCommander(routes, clock),
        )
        self._get_account_prefix = get_account_prefix

    async def execute(self, action: Action, snapshot: PaneSnapshot | None, correlation: str = "") -> Outcome:
        """Raises ``StaleSnapshot`` when the pane is no longer what was believed; then nothing was done."""
        if isinstance(action, Notify) and self._notifier is not None:
            return await self._notifier.send_notification(action, correlation)
        if isinstance(action, Spawn):
            return await self._spawn(action, snapshot)
        if isinstance(action, Reserve | Release):
            return await self._change_reservation(action)
        if isinstance(action, AnswerAgent):
            return await self._agent_commander.deliver_approval(action, snapshot)
        if isinstance(action, RunProgram):
            return await run_program.run_program(action)
        if isinstance(action, AskPerson | RunWorkflow):
            return Outcome(status="done", pane=action.pane)  # who asked carries it on: a run, an operation
        if snapshot is None:
            raise NotFound("there is no pane to act on")
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
        raise Unsupported(f"{get_action_kind(action)} cannot be done here")

    async def _spawn(self, action: Spawn, snapshot: PaneSnapshot | None) -> Outcome:
        if action.account:
            action = replace(action, command=(*self._get_account_prefix(action.account), *action.command))
        if snapshot is None:
            mux_pane, pid = await (await self._routes.get_server_control(action.server)).open_pane(action, None)
        else:
            session = action.session or snapshot.view.facts.session_id
            wanted = replace(action, session=session) if action.where == "window" else action
            mux_pane, pid = await self._routes.get_control(snapshot.view.id).open_pane(wanted, snapshot.pane_state.pane)
        return Outcome(status="done", mux_pane=mux_pane, pid=pid, former={"mux_pane": mux_pane, "pid": pid})

    async def _press_keys(self, action: SendKeys, snapshot: PaneSnapshot) -> Outcome:
        is_undo = snapshot.undo_target is not None and snapshot.undo_target.is_typed
        piece = (
            find_guard_piece(snapshot.typed_input.before, snapshot.pane_state.width)
            if is_undo and snapshot.typed_input
            else ""
        )
        return _build_outcome(
            snapshot, await self._routes.get_control(action.pane).press(snapshot.build_guard(piece), action.keys)
        )

    async def _change_reservation(self, action: Reserve | Release) -> Outcome:
        if isinstance(action, Release):
            await self._routes.release(action)
            return Outcome(status="done", pane=action.pane)
        held, is_new = await self._routes.reserve(action)
        return Outcome(status="done", pane=action.pane, former={"reservation": held.id, "is_longer": not is_new})

    async def _kill(self, action: Kill, snapshot: PaneSnapshot) -> Outcome:
        if action.closes_pane:
            return await self._alter_pane(snapshot, "close")
        group = self._routes.send_signal(snapshot, action.signal)
        return Outcome(status="done", pane=action.pane, pid=group, text=f"SIG{action.signal} was sent")

    async def _alter_pane(
        self, snapshot: PaneSnapshot, change: Literal["activate", "title", "close"], value: str = ""
    ) -> Outcome:
        guard = replace(snapshot.build_guard(), command=None, alternate=None, takes_input=False)
        found = await self._routes.get_control(snapshot.view.id).change_pane(guard, change, value)
        kept = {} if isinstance(found, GuardMismatch) else _collect_former_values(found, change)
        return replace(_build_outcome(snapshot, found if isinstance(found, GuardMismatch) else None), former=kept)


def _collect_former_values(
    former: AppliedPaneChange, change: Literal["activate", "title", "close"]
) -> dict[str, Scalar]:
    """What the record needs to take it back. A title with a secret in it is not kept."""
    if change == "activate":
        return {"former_front": former.old_front}
    titles = {"former_title": former.old_title, "title": former.new_title} if change == "title" else {}
    return {name: title for name, title in titles.items() if redact(title) == title and len(title) <= _MAX_TITLE_CHARS}


def _build_outcome(snapshot: PaneSnapshot, mismatch: GuardMismatch | None) -> Outcome:
    if mismatch is None:
        return Outcome(status="done", pane=snapshot.view.id)
    raise StaleSnapshot(
        f"nothing was done: expected {mismatch.expected}, found {mismatch.actual}",
        details={
            "outcome": "refused",
            "why": f"stale_{mismatch.what}",
            "expected": mismatch.expected,
            "actual": mismatch.actual,
        },
    )
