"""Channel: how one agent is spoken to at its terminal. A module `channel` beside its adapter; only the gate imports it.

Every part is optional and pure: it is shown a screen and says which keys mean the wish there, or None where that cannot
be said surely. Whoever presses them looks whether they had their effect.
"""

from typing import Protocol

from termvisor.agents.adapters.dialog_options import Decision, KeyPress
from termvisor.model.terminal.screen import Screen


class AgentKeymap(Protocol):
    def format_hook_answer(self, decision: Decision, message: str = "") -> str:
        """What its hook prints in the place of its dialog."""

    def find_answer_keys(self, screen: Screen, decision: Decision) -> KeyPress | None:
        """Allow, this once, or refuse what its dialog asks."""

    def find_option_keys(self, screen: Screen, label: str) -> KeyPress | None:
        """Pick this very choice of its dialog."""

    def find_interrupt_keys(self, screen: Screen) -> KeyPress | None:
        """Stop what it is at; only while the screen shows work."""

    def find_exit_keys(self, screen: Screen) -> KeyPress | None:
        """End it; only while it rests and nothing is written in its composer."""

    def read_composer(self, screen: Screen) -> str | None:
        """What is written in its composer, or its invitation to write; None where there is no composer."""
