"""Describe the agent in a pane: its state, its keyboard, and how to read its screen. Pure."""

from functools import cache
from types import ModuleType
from typing import TypeVar

from msgspec import Struct

from termvisor.actions import input_line
from termvisor.agents.adapters import loader
from termvisor.agents.adapters.adapter import Adapter, ScreenReading
from termvisor.agents.adapters.keyboard import Decision, KeyPress
from termvisor.backends.pane_control import PaneState
from termvisor.model.agent.state import StateName
from termvisor.model.ids import PaneId, RuntimeId
from termvisor.model.terminal.screen import Screen

T = TypeVar("T")


class PaneAgent(Struct, frozen=True, kw_only=True):
    """``state`` is the last known state; ``session`` is the agent's own session id, if it reported one."""

    name: str
    runtime: RuntimeId
    pid: int = 0
    state: StateName = "unknown"
    session: str = ""


class AgentInteraction:
    """The screen classifier and the keys of one agent; methods return None if no such keys apply now."""

    def __init__(self, adapter: Adapter, keyboard: ModuleType | None):
        self._adapter, self._keyboard = adapter, keyboard

    @property
    def is_without_keyboard(self) -> bool:
        return self._keyboard is None or not hasattr(self._keyboard, "read_composer")

    def read_screen(self, screen: Screen) -> ScreenReading:
        return self._adapter.classify_screen(screen)

    def format_hook_answer(self, decision: Decision, message: str = "") -> str | None:
        return self._call_keyboard("format_hook_answer", str, decision, message)

    def find_choice_keys(self, screen: Screen, choice: str) -> KeyPress | None:
        """Return the keys that pick `allow`, `deny` or the option with this label."""
        if choice in ("allow", "deny"):
            return self._call_keyboard("find_answer_keys", KeyPress, screen, choice)
        return self._call_keyboard("find_option_keys", KeyPress, screen, choice)

    def find_interrupt_keys(self, screen: Screen) -> KeyPress | None:
        return self._call_keyboard("find_interrupt_keys", KeyPress, screen)

    def find_exit_keys(self, screen: Screen) -> KeyPress | None:
        return self._call_keyboard("find_exit_keys", KeyPress, screen)

    def read_composer(self, screen: Screen) -> str | None:
        return self._call_keyboard("read_composer", str, screen)

    def _call_keyboard(self, name: str, kind: type[T], *args: object) -> T | None:
        # A keyboard module defines only the functions that its agent supports.
        function = getattr(self._keyboard, name, None)
        result = function(*args) if function is not None else None
        return result if isinstance(result, kind) else None


@cache
def get_agent_interaction(agent: str) -> AgentInteraction | None:
    """Return the interaction built from the agent's ``keyboard`` module; None for an unknown agent."""
    adapter = next((adapter for adapter in loader.load_adapters() if adapter.name == agent), None)
    if adapter is None:
        return None
    return AgentInteraction(adapter, loader.import_adapter_module(adapter, "keyboard"))


def build_screen(pane: PaneId, pane_state: PaneState, at: int) -> Screen:
    rows = [row.rstrip() for row in input_line.read_plain_rows(pane_state)]
    return Screen(
        pane=pane,
        rows=tuple(rows + [""] * (pane_state.height - len(rows))),
        width=pane_state.width,
        height=pane_state.height,
        cursor_x=pane_state.cursor_x,
        cursor_y=pane_state.cursor_y,
        alternate=pane_state.alternate,
        at=at,
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
