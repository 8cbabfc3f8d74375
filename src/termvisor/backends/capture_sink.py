"""The contract between a backend and the capture stage (`CaptureSink`): how the output of a pane reaches its log.

A backend is given an epoch and a sink when a capture starts and uses exactly one way for that epoch: it lets another
program hand over a stream (tmux's pipe), hands one over itself (own terminals), appends bytes (control mode), or adds
screens (terminals that can only be polled).
"""

from typing import Literal, Protocol

from msgspec import Struct

from termvisor.backends.pane_source import PaneCapture
from termvisor.model.ids import EpochId, PaneId

ScreenProof = Literal["continued", "unproven"]
"""Whether a screen proves which of its rows follow those that were captured before."""


class StreamHandoff(Struct, frozen=True):
    """How a process hands a stream to the recorder: by running a program, or by doing the same itself.

    The program connects to ``socket`` (sequential packets), sends ``hold <name>`` and a line feed together with the
    descriptor, and waits for the answer `ok`.
    """

    argv: tuple[str, ...]
    """The program; the stream is its standard input."""
    socket: str
    name: str


class CaptureSink(Protocol):
    """The receiver of captured output. Implemented by the capture stage."""

    def plan_handoff(self, pane: PaneId, epoch: EpochId) -> StreamHandoff:
        """Return how another process hands the stream of the epoch to the recorder."""

    def hold_stream(self, pane: PaneId, epoch: EpochId, descriptor: int) -> None:
        """Hand a duplicate of this descriptor to the recorder, which reads it to its end.

        The recorder reports the stream like one from the handoff command. Raises Unavailable if it is not connected.
        """

    def append(self, epoch: EpochId, data: bytes, at: int = 0) -> bool:
        """Append bytes, read at this time or now; may be called by any thread.

        Returns False if the epoch has ended or its log cannot be written: the backend sends no more bytes of it.
        """

    def add_screen(self, epoch: EpochId, capture: PaneCapture) -> ScreenProof:
        """Append the rows that follow those captured before; "unproven" appends nothing.

        The backend then captures the pane with its scrollback once; if that proves nothing either, it reports the
        capture as lost (`cursor_jump`).
        """
