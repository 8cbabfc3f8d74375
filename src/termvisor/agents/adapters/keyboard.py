"""Channel: how one agent is spoken to at its terminal. A module `channel` beside its adapter; only the gate imports it.

Every part is optional and pure: it is shown a screen and says which keys mean the wish there, or None where that cannot
be said surely. Whoever presses them looks whether they had their effect.
"""

from typing import Protocol

from termvisor.agents.adapters.dialog_options import Decision, Press
from termvisor.model.terminal.screen import Screen


class Channel(Protocol):
    def hook_answer(self, decision: Decision, message: str = "") -> str:
        """What its hook prints in the place of its dialog."""

    def answer(self, screen: Screen, decision: Decision) -> Press | None:
        """Allow, this once, or refuse what its dialog asks."""

    def choose(self, screen: Screen, label: str) -> Press | None:
        """Pick this very choice of its dialog."""

    def interrupt(self, screen: Screen) -> Press | None:
        """Stop what it is at; only while the screen shows work."""

    def leave(self, screen: Screen) -> Press | None:
        """End it; only while it rests and nothing is written in its composer."""

    def composer(self, screen: Screen) -> str | None:
        """What is written in its composer, or its invitation to write; None where there is no composer."""
