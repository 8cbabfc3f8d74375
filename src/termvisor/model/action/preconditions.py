"""Conditions that a caller sets for an action, execution options, and the actions that can undo another one."""

from typing import Literal

from msgspec import Struct

from termvisor.model.action.action import Action
from termvisor.model.ids import MuxPaneId


class UndoPrecondition(Struct, frozen=True, kw_only=True):
    """The action to undo, and the state it left behind, which must be unchanged."""

    correlation: str
    title: str | None = None
    """The pane has this title."""
    front: MuxPaneId | None = None
    """This pane is the active pane of its session."""
    is_typed: bool = False
    """The input of a shell at its prompt contains exactly the typed text."""
    is_alone: bool = False
    """The pane's process has no running child process."""


class Preconditions(Struct, frozen=True, kw_only=True):
    """``key`` makes a repeated call idempotent. If a condition fails, the action is refused and the error names it."""

    key: str = ""
    into: Literal["prompt", "program"] = "prompt"
    """Whether the text is for a shell at its prompt or, explicitly, for the running program."""
    owner: str = ""
    """The owner of the reservation under which the action runs; empty for the caller itself."""
    overrides_reservation: bool = False
    """A person acts although another caller has reserved the pane."""
    runtime: int | None = None
    """The id of the agent process that must be running in the pane."""
    states: frozenset[str] = frozenset()
    """The agent's state or the pane's activity must be one of these."""
    updated_within: float | None = None
    """Maximum seconds since the last output of the pane."""
    screen: str | None = None
    """A text, or a pattern in slashes, that the screen must contain."""
    at_prompt: bool = False
    is_ready: bool = False
    """A `ready` user variable must have been set since the last command began."""
    is_input_empty: bool = False
    """The agent's input field must be empty, even if the text would go through its own server."""
    tail: str | None = None
    """A pattern that the last lines must match."""
    tail_lines: int = 5
    stable_for: float = 0.0
    """Seconds for which the last lines must not have changed."""
    force_stale: bool = False
    """Execute even if the pane's facts are old. Policy and audit log still apply."""
    correlation: str = ""
    """The correlation that this action belongs to; empty for a new one."""
    undoes: UndoPrecondition | None = None
    """The action that this one undoes."""
    asks: bool = False
    """Require approval even if the policy would allow the action."""
    wait_for_answer: float = 0.0
    """Seconds to wait for an approval if one is required."""


class UndoAction(Struct, frozen=True, kw_only=True):
    action: Action
    undoes: UndoPrecondition
