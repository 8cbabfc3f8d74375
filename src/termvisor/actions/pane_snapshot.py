"""The state of a pane just before an action, and the interfaces that provide it.

The daemon takes a snapshot once. tmux checks the guard built from it again, in the same step as the action.
"""

from collections.abc import Awaitable, Callable
from typing import Protocol

from msgspec import Struct

from termvisor.actions import input_line
from termvisor.actions.pane_agent import AgentInteraction, PaneAgent, build_screen, get_agent_interaction
from termvisor.agents.adapters.server_contract import SessionControl
from termvisor.backends.pane_control import PaneControl, PaneGuard, PaneState, PaneViewer
from termvisor.clock import NS
from termvisor.model.action.action import Release, Reserve
from termvisor.model.action.approval import Reservation
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions, UndoPrecondition
from termvisor.model.ids import PaneId, RuntimeId
from termvisor.model.terminal.pane import InputState, PaneView
from termvisor.model.terminal.screen import Screen

# Seconds after a key press during which a user counts as typing in the pane.
HUMAN_TYPING_WINDOW_S = 3.0


class PaneSnapshot(Struct, frozen=True, kw_only=True):
    view: PaneView
    pane_state: PaneState
    input_place: InputState
    observed_at: int
    is_in_gap: bool = False
    is_ready: bool = False
    tail: tuple[str, ...] = ()
    reservation: Reservation | None = None
    has_agent_server: bool = False
    """True if the agent's server is connected."""
    takes_prompts: bool = False
    """True if the server accepts prompts for the session that the pane is proven to show."""
    undo_target: UndoPrecondition | None = None
    """The conditions that must still hold for the action to be undone."""
    holds_own_text: bool = False
    """True if the input holds exactly the text typed by the action to be undone."""
    agent: PaneAgent | None = None
    child_count: int | None = None
    """Running child processes of the pane's process; None if unknown or not needed."""

    def build_guard(self, shown_text: str = "") -> PaneGuard:
        return PaneGuard(
            pane=self.pane_state.pane,
            pid=self.pane_state.pid,
            command=self.pane_state.command,
            alternate=self.pane_state.alternate,
            shows=shown_text,
            title=self.undo_target.title if self.undo_target else None,
            front=self.undo_target.front if self.undo_target else None,
        )

    def list_typing_clients(self, now: int) -> list[PaneViewer]:
        """Return the attached clients whose user typed within the last ``HUMAN_TYPING_WINDOW_S`` seconds."""
        return [client for client in self.pane_state.viewers if (now - client.typed_at) / NS < HUMAN_TYPING_WINDOW_S]

    @property
    def screen(self) -> Screen:
        return build_screen(self.view.id, self.pane_state, self.observed_at)

    @property
    def interaction(self) -> AgentInteraction | None:
        """Return the interaction of the agent in the foreground; None if a shell or another program is there."""
        # At a shell prompt, the agent is in the background or exiting, so keys would go to the shell.
        is_shell = self.view.activity.kind == "prompt"
        interaction = None if self.agent is None or is_shell else get_agent_interaction(self.agent.name)
        return None if interaction is None or interaction.is_without_keyboard else interaction

    @property
    def typed_input(self) -> input_line.TypedInput | None:
        """Return the text typed at the shell prompt; None if the prompt is not found."""
        column = self.input_place.column
        return None if column is None else input_line.read_prompt_input(self.pane_state, column)


AllowCallback = Callable[[PaneSnapshot | None], Awaitable[Outcome]]
"""Sends an approval to the agent that waits for it."""


class PaneAccess(Protocol):
    """Read access of the gate to panes, implemented by the daemon (a higher layer)."""

    def get_last_command_time(self, pane: PaneId) -> int:
        """Return when the shell last reported the start of a command with our nonce; 0 if never."""

    def count_unread_bytes(self, pane: PaneId) -> int | None:
        """Return how many typed bytes the program has not read yet; None if unknown."""

    def is_busy(self, pane: PaneId) -> bool:
        """Return True if the kernel echoes keys and the program is certainly not reading them now."""

    async def get_pane(self, pane: PaneId) -> PaneView:
        """Return the stored pane. Raises ``NotFound``."""

    async def take_snapshot(self, pane: PaneId, preconditions: Preconditions) -> PaneSnapshot:
        """Query tmux and the store for the pane's current state. Raises ``NotFound``."""

    def get_control(self, pane: PaneId) -> PaneControl: ...

    def get_session_control(self, pane: PaneId) -> SessionControl | None:
        """Return control of the server session that the pane is proven to show; None if there is none."""

    async def find_last_command_line(self, pane: PaneId, since: int) -> str | None:
        """Return the last command that the shell reported with our nonce after ``since``; None if there is none."""


class ActionRoutes(PaneAccess, Protocol):
    """The connections that actions use besides pane control."""

    def find_allow_callback(self, request: str) -> AllowCallback | None:
        """Return a callback that sends an approval to the agent; None if the caller (a hook) sends it."""

    def has_exited(self, runtime: RuntimeId) -> bool: ...

    async def get_server_control(self, socket: str) -> PaneControl:
        """Return control of the tmux server on this socket, or of the only server. Raises ``NotFound``."""

    def send_signal(self, snapshot: PaneSnapshot, name: str) -> int:
        """Send a signal to the pane's foreground process group and return the group id. Raises ``StaleSnapshot``."""

    async def reserve(self, action: Reserve) -> tuple[Reservation, bool]:
        """Return the reservation in force and whether it is new. Raises ``Conflict``."""

    async def release(self, action: Release) -> None:
        """Release the reservation. Raises ``StaleSnapshot`` if it does not exist."""
