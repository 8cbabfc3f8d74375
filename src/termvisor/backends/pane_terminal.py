"""The contract of a pane's terminal (`PaneTerminal`): foreground group, unread input, modes, signals.

Asynchronous, because the terminal may be on another machine. Unknown is None, and counts against acting.
`local_terminal.py` asks the kernel of this machine.
"""

from typing import Literal, Protocol

from msgspec import Struct

from termvisor.model.terminal.pane import PaneFacts

InputWait = Literal["reads", "polls", "no", "unknown"]
"""What proves that a program waits for input: a thread inside `read` on the terminal, one that polls it among other
descriptors, none of both, or nothing known."""
SignalName = Literal["INT", "TERM", "KILL", "HUP", "QUIT"]


class TerminalState(Struct, frozen=True, kw_only=True):
    """A pane's terminal at one instant."""

    foreground_group: int
    is_pane_process: bool
    """The pane's first process leads the foreground group."""
    is_shell_reading: bool = False
    """The pane's first process is a shell that reads a command."""
    unread_bytes: int | None = None
    """Input that the program has not read yet."""
    echoes: bool | None = None
    is_canonical: bool | None = None
    """Input is read by lines. With ``echoes`` false as well, a secret is asked for."""
    waits: InputWait = "unknown"


class PaneTerminal(Protocol):
    """Access to the terminals of one server's panes. Raises Unsupported where the backend knows no processes."""

    async def read_state(self, facts: PaneFacts) -> TerminalState | None:
        """Return the state of the terminal; None if the process has exited or nothing is known."""

    async def find_foreground_group(self, facts: PaneFacts) -> int:
        """Return the foreground process group; 0 if unknown."""

    async def count_unread_bytes(self, facts: PaneFacts) -> int | None:
        """Return the number of input bytes that the program has not read yet."""

    async def is_busy(self, facts: PaneFacts) -> bool:
        """Return True if typed text is echoed while the foreground program certainly reads no input."""

    async def is_in_foreground(self, facts: PaneFacts, pid: int) -> bool:
        """Return True if this process is in the foreground of the pane."""

    async def count_children(self, facts: PaneFacts) -> int | None:
        """Return the number of child processes of the pane's first process."""

    async def count_read_bytes(self, facts: PaneFacts, pid: int) -> int | None:
        """Return how many bytes a process of the pane has read since it started."""

    async def is_same_process(self, facts: PaneFacts) -> bool:
        """Return True if the pane's first process is still the one in the facts, and no other with its number."""

    async def send_signal(self, facts: PaneFacts, group: int, name: SignalName) -> bool:
        """Signal a process group of the pane. Returns False if it no longer exists or belongs to another user."""
