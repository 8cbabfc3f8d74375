"""The state of a pane and its agent just before an action, and the interfaces that provide it.

The daemon takes a snapshot once. tmux checks the guard built from it again, in the same step as the action. The agent's
adapter reads the screen, and its keyboard module knows the keys.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Protocol, TypeVar

from msgspec import Struct

from termvisor.actions import input_line
from termvisor.agents.adapters import loader, structure_keyboard
from termvisor.agents.adapters.adapter import Adapter, ScreenReading
from termvisor.agents.adapters.description_files import DESCRIPTIONS
from termvisor.agents.adapters.keyboard import Decision, KeyPress
from termvisor.agents.adapters.screen_rows import ZERO_WIDTH_BLANKS
from termvisor.agents.adapters.server_contract import SessionControl
from termvisor.backends.pane_control import PaneControl, PaneGuard, PaneState, PaneViewer
from termvisor.backends.pane_terminal import SignalName
from termvisor.clock import NS
from termvisor.model.action.action import Release, Reserve, Spawn
from termvisor.model.action.approval import Reservation
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions, UndoPrecondition
from termvisor.model.agent.state import StateName
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId
from termvisor.model.terminal.pane import InputState, PaneView
from termvisor.model.terminal.screen import Screen
from termvisor.terminal.input_area import locate_cursor

if TYPE_CHECKING:
    # A cycle of types only: typing into a job needs the snapshot of its pane.
    from termvisor.actions.job_input import JobControl

# Seconds after a key press during which a user counts as typing in the pane.
HUMAN_TYPING_WINDOW_S = 3.0
T = TypeVar("T")


class PaneAgent(Struct, frozen=True, kw_only=True):
    """``state`` is the last known state; ``session`` is the agent's own session id, if it reported one."""

    name: str
    runtime: RuntimeId
    pid: int = 0
    state: StateName = "unknown"
    has_shown_dialog: bool = False
    """True if the screen has shown a dialog since the agent came into its state."""
    session: str = ""


class AgentInteraction:
    """The screen classifier and the keys of one agent; methods return None if no such keys apply now.

    A composer or a dialog that the agent's own module does not know is read by its structure: another version of the
    agent drew it.
    """

    def __init__(self, adapter: Adapter, keyboard: object | None):
        self._adapter, self._keyboard = adapter, keyboard

    @property
    def is_without_keyboard(self) -> bool:
        return self._keyboard is None or not hasattr(self._keyboard, "read_composer")

    @property
    def has_own_module(self) -> bool:
        """Return True if a module of the agent knows its screens by their words; False for a described agent."""
        return isinstance(self._keyboard, ModuleType)

    def read_screen(self, screen: Screen) -> ScreenReading:
        return self._adapter.classify_screen(screen)

    def format_hook_answer(self, decision: Decision, message: str = "") -> str | None:
        return self._call_keyboard("format_hook_answer", str, decision, message)

    def find_choice_keys(self, screen: Screen, choice: str) -> KeyPress | None:
        """Return the keys that pick `allow`, `deny` or the option with this label."""
        reading = self._adapter.classify_screen(screen)
        if self.has_own_module and reading.rule and not reading.names_agent:
            return structure_keyboard.find_choice_keys(screen, reading, choice)
        name = "find_answer_keys" if choice in ("allow", "deny") else "find_option_keys"
        return self._call_keyboard(name, KeyPress, screen, choice)

    @property
    def asks_for_reasons(self) -> bool:
        """Return True if the agent may ask for a reason when a request is refused."""
        return hasattr(self._keyboard, "find_reason_keys")

    def find_reason_keys(self, screen: Screen) -> KeyPress | None:
        return self._call_keyboard("find_reason_keys", KeyPress, screen)

    def find_interrupt_keys(self, screen: Screen) -> KeyPress | None:
        return self._call_keyboard("find_interrupt_keys", KeyPress, screen)

    def find_exit_keys(self, screen: Screen) -> KeyPress | None:
        return self._call_keyboard("find_exit_keys", KeyPress, screen)

    def read_composer(self, screen: Screen) -> str | None:
        """Return the text in the composer, without a placeholder; None if there is no composer."""
        text = self._call_keyboard("read_composer", str, screen)
        if text is None and self.has_own_module:
            text = structure_keyboard.read_composer(screen)
        text = text and text.strip(ZERO_WIDTH_BLANKS).strip()
        placeholder: re.Pattern[str] | None = getattr(self._keyboard, "PLACEHOLDER", None)
        return "" if text and placeholder is not None and placeholder.fullmatch(text) else text

    @property
    def has_queue(self) -> bool:
        """Return True if the agent takes prompts while it works."""
        return hasattr(self._keyboard, "read_queue")

    def read_queue(self, screen: Screen) -> str:
        """Return the prompts that the agent shows in its queue."""
        return self._call_keyboard("read_queue", str, screen) or ""

    def _call_keyboard(self, name: str, kind: type[T], *args: object) -> T | None:
        # A keyboard module defines only the functions that its agent supports.
        function = getattr(self._keyboard, name, None)
        result = function(*args) if function is not None else None
        return result if isinstance(result, kind) else None


def get_agent_interaction(agent: str) -> AgentInteraction | None:
    """Return the interaction built from the agent's ``keyboard`` module; None for an unknown agent."""
    return _build_interaction(agent, DESCRIPTIONS.generation)


@cache
def _build_interaction(agent: str, _generation: int) -> AgentInteraction | None:
    adapter = next((adapter for adapter in loader.load_adapters() if adapter.name == agent), None)
    if adapter is None:
        return None
    keyboard = loader.import_adapter_module(adapter, "keyboard")
    # Agents that share a module have a keyboard each.
    build_keyboard = getattr(keyboard, "build_keyboard", None)
    return AgentInteraction(adapter, build_keyboard(adapter) if build_keyboard is not None else keyboard)


def build_screen(pane: PaneId, pane_state: PaneState, at: int) -> Screen:
    rows = [row.rstrip() for row in input_line.read_plain_rows(pane_state)]
    size = (pane_state.width, pane_state.height)
    cursor = locate_cursor(rows, size, pane_state.cursor_x, pane_state.cursor_y)
    y, x = cursor or (pane_state.cursor_y, pane_state.cursor_x)
    return Screen(
        pane=pane,
        rows=tuple(rows + [""] * (pane_state.height - len(rows))),
        width=pane_state.width,
        height=pane_state.height,
        cursor_x=x,
        cursor_y=y,
        alternate=pane_state.alternate,
        at=at,
        highlights=input_line.find_highlights(pane_state.rows),
    )


def read_composer_text(interaction: AgentInteraction, screen: Screen, pane_state: PaneState) -> str | None:
    """Return the text typed in the agent's composer, without faint suggestions; None if there is no composer."""
    text = interaction.read_composer(screen)
    if not text:
        return text
    # Agents draw suggestions as faint text in the composer, but their keyboard modules read plain rows only.
    solid = {
        input_line.strip_decoration(row.text): input_line.strip_decoration(input_line.drop_faint_text(row))
        for row in map(input_line.parse_row, pane_state.rows)
    }
    rows = [row for row in text.split("\n") if input_line.strip_decoration(row)]
    is_faint = all(solid.get(input_line.strip_decoration(row), "?") == "" for row in rows)
    return "" if is_faint else text


def list_typing_clients(pane_state: PaneState, now: int) -> list[PaneViewer]:
    """Return the attached clients whose user typed within the last ``HUMAN_TYPING_WINDOW_S`` seconds."""
    return [client for client in pane_state.viewers if (now - client.typed_at) / NS < HUMAN_TYPING_WINDOW_S]


class PaneForeground(Struct, frozen=True):
    """The foreground process group of the pane's terminal (0: unknown), and whether a shell in it reads the input."""

    group: int = 0
    is_shell: bool = False


class PaneSnapshot(Struct, frozen=True, kw_only=True):
    view: PaneView
    pane_state: PaneState
    input_place: InputState
    observed_at: int
    foreground: PaneForeground = PaneForeground()
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
    shell: str = ""
    """The process id of the shell that is proven to be at its prompt; empty if there is none."""
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

    @property
    def screen(self) -> Screen:
        return build_screen(self.view.id, self.pane_state, self.observed_at)

    @property
    def interaction(self) -> AgentInteraction | None:
        """Return the interaction of the agent in the foreground; None if a shell or another program is there."""
        # With a shell in front, the agent is in the background or exiting, so keys would go to the shell.
        is_shell = self.view.activity.kind == "prompt" or self.foreground.is_shell
        interaction = None if self.agent is None or is_shell else get_agent_interaction(self.agent.name)
        return None if interaction is None or interaction.is_without_keyboard else interaction

    @property
    def typed_input(self) -> input_line.TypedInput | None:
        """Return the text typed at the shell prompt; None if the prompt is not found."""
        column = self.input_place.column
        return None if column is None else input_line.read_prompt_input(self.pane_state, column)


AllowCallback = Callable[[PaneSnapshot | None], Awaitable[Outcome]]
"""Sends an approval to the agent that waits for it."""


class ProgramObserver(Protocol):
    """What the program in a pane has read and begun, at the time of the call."""

    def get_command_times(self, pane: PaneId) -> Mapping[str, int]:
        """Return when the last command started according to marks with our nonce, by the shell that they name."""

    def has_turn_started(self, pane: PaneId, since: int) -> bool:
        """Return True if the agent in the pane has itself reported work that began after ``since``."""

    async def count_read_bytes(self, pane: PaneId, pid: int) -> int | None:
        """Return how many bytes a process of the pane has read since it started; None if that is unknown."""

    async def find_foreground_group(self, pane: PaneId) -> int:
        """Return the foreground process group of the pane's terminal; 0 if unknown."""

    async def count_unread_bytes(self, pane: PaneId) -> int | None:
        """Return how many typed bytes the program has not read yet; None if unknown."""

    async def is_busy(self, pane: PaneId) -> bool:
        """Return True if the kernel echoes keys and the program is certainly not reading them now."""


class PaneAccess(ProgramObserver, Protocol):
    """Read access of the gate to panes, implemented by the daemon (a higher layer)."""

    async def get_pane(self, pane: PaneId) -> PaneView:
        """Return the stored pane. Raises ``NotFound``."""

    async def take_snapshot(self, pane: PaneId, preconditions: Preconditions) -> PaneSnapshot:
        """Query tmux and the store for the pane's current state. Raises ``NotFound``."""

    def get_control(self, pane: PaneId) -> PaneControl: ...

    def get_session_control(self, pane: PaneId) -> SessionControl | None:
        """Return control of the server session that the pane is proven to show; None if there is none."""

    async def find_last_command_line(self, pane: PaneId, since: int) -> str | None:
        """Return the last command that the shell reported with our nonce after ``since``; None if there is none."""


class PaneOpener(Protocol):
    """Opens panes on one server, which it starts if ``started_server`` names it."""

    started_server: str

    async def open_pane(self, spawn: Spawn, beside: MuxPaneId | None) -> tuple[MuxPaneId, int]:
        """Start a program; return its pane and process id."""


class ActionRoutes(PaneAccess, Protocol):
    """The connections that actions use besides pane control."""

    def find_allow_callback(self, request: str) -> AllowCallback | None:
        """Return a callback that sends an approval to the agent; None if the caller (a hook) sends it."""

    def has_exited(self, runtime: RuntimeId) -> bool: ...

    async def get_pane_opener(self, spawn: Spawn) -> PaneOpener:
        """Return the opener for the server that this action names, or for the only one. Raises ``NotFound``."""

    def get_job_control(self) -> "JobControl":
        """Return the control of jobs."""

    async def send_signal(self, snapshot: PaneSnapshot, name: SignalName) -> int:
        """Send a signal to the pane's foreground process group and return the group id. Raises ``StaleSnapshot``."""

    async def reserve(self, action: Reserve) -> tuple[Reservation, bool]:
        """Return the reservation in force and whether it is new. Raises ``Conflict``."""

    async def release(self, action: Release) -> None:
        """Release the reservation. Raises ``StaleSnapshot`` if it does not exist."""
