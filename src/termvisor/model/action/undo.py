"""Actions that undo another action. They run only if the pane is still as that action left it."""

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


class UndoAction(Struct, frozen=True, kw_only=True):
    action: Action
    undoes: UndoPrecondition
