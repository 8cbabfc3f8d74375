"""Conditions that a caller sets for an action, options of its execution, and the actions that undo another one."""

from typing import Literal

from msgspec import Struct

from termvisor.model.action.action import Action
from termvisor.model.ids import MuxPaneId


class UndoPrecondition(Struct, frozen=True, kw_only=True):
    """The action to undo, and the state that it left, which must not have changed."""

    correlation: str
    title: str | None = None
    """The pane has this title."""
    front: MuxPaneId | None = None
    """This pane is the active one of its session."""
    is_typed: bool = False
    """The input of a shell at its prompt contains exactly the typed text."""
    is_alone: bool = False
    """The pane's process has no running child process."""


class Preconditions(Struct, frozen=True, kw_only=True):
    """``key`` makes a repeated call idempotent. A condition that fails refuses the action and is named."""

    key: str = ""
    into: Literal["prompt", "program"] = "prompt"
    """Text is for a shell at its prompt, or explicitly for the program that is running."""
    owner: str = ""
    """The owner of the reservation under which the action runs."""
    runtime: int | None = None
    """The process in the pane must be this one."""
    state: str | None = None
    updated_within: float | None = None
    """Maximum seconds since the last output of the pane."""
    screen: str | None = None
    """A text, or a pattern between slashes, that the screen must contain."""
    at_prompt: bool = False
    is_ready: bool = False
    """A `ready` user variable must have been set since the last command began."""
    is_input_empty: bool = False
    """The agent's input field must be empty, also if the text would be sent by its own server."""
    tail: str | None = None
    """A pattern that the last lines must match."""
    tail_lines: int = 5
    stable_for: float = 0.0
    """Seconds for which the last lines must not have changed."""
    force_stale: bool = False
    """Execute although the pane's facts are old; policy and audit log apply all the same."""
    correlation: str = ""
    """The correlation that this action belongs to; empty for a new one."""
    undoes: UndoPrecondition | None = None
    """The action that this one undoes."""
    asks: bool = False
    """Require approval also if the policy would allow the action."""
    wait_for_answer: float = 0.0
    """Seconds to wait for an approval if one is required."""


class UndoAction(Struct, frozen=True, kw_only=True):
    action: Action
    undoes: UndoPrecondition
