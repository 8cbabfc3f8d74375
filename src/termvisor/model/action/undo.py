"""An Inverse is the action that takes another one back. It is an action like any other, and bound to what that one
left: where something else stands there by now, nothing is done.
"""

from msgspec import Struct

from termvisor.model.action.action import Action
from termvisor.model.ids import MuxPaneId


class UndoPrecondition(Struct, frozen=True, kw_only=True):
    """Which action is taken back, and what it left, which must still be so."""

    correlation: str
    title: str | None = None
    """The pane has this title."""
    front: MuxPaneId | None = None
    """This pane is the one that people see in the session."""
    is_typed: bool = False
    """Its text, and nothing else, stands in the input of a shell at its prompt."""
    is_alone: bool = False
    """The pane's own process has started no other program that runs."""


class UndoAction(Struct, frozen=True, kw_only=True):
    action: Action
    undoes: UndoPrecondition
