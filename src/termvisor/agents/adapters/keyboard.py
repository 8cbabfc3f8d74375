"""The contract for typing to an agent, implemented by the module `keyboard` of its adapter. Only the gate imports it.

Every function is optional and pure: it gets a screen and returns the keys that perform the action there, or None if
that is not certain. The gate verifies the effect of the keys.
"""

from typing import Protocol

from termvisor.agents.adapters.dialog_options import Decision, KeyPress
from termvisor.model.terminal.screen import Screen


class AgentKeymap(Protocol):
    """The functions of a module `keyboard`."""

    def format_hook_answer(self, decision: Decision, message: str = "") -> str:
        """Return what the permission hook prints to answer instead of the dialog."""

    def find_answer_keys(self, screen: Screen, decision: Decision) -> KeyPress | None:
        """Return the keys that allow once, or deny, the request in the dialog."""

    def find_option_keys(self, screen: Screen, label: str) -> KeyPress | None:
        """Return the keys that choose the option with exactly this label."""

    def find_interrupt_keys(self, screen: Screen) -> KeyPress | None:
        """Return the keys that interrupt a turn; None unless the screen shows that the agent is working."""

    def find_exit_keys(self, screen: Screen) -> KeyPress | None:
        """Return the keys that exit the agent; None unless it is resting and its composer is shown."""

    def read_composer(self, screen: Screen) -> str | None:
        """Return the text in the composer, or its placeholder; None if there is no composer."""
