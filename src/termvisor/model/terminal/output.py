"""Captured output: epochs, bytes, lines, text blocks, gaps, and marks (meaningful escape sequences)."""

from typing import Literal, get_args

from msgspec import Struct

from termvisor.model.ids import EpochId, PaneId

GapCause = Literal[
    "pipe_stolen",
    "pipe_closed",
    "recorder_restart",
    "client_paused",
    "server_gone",
    "scrollback_truncated",
    "cursor_jump",
    "pane_reset",
    "link_down",
    "disk_full",
    "descriptors_exhausted",
    "log_truncated",
    "tail_uncertain",
]
GAP_CAUSES: tuple[GapCause, ...] = get_args(GapCause)
UNCERTAIN_TAIL: GapCause = "tail_uncertain"
"""The cause after every exit of a program without our end mark. It is rarely a loss, so it does not count as a gap."""

EpochEnd = Literal[GapCause, "joined", "pane_exited", "stopped"]
"""Why an epoch closed: the cause of a gap, or an end without missing bytes."""

EpochSource = Literal["pipe", "control", "pty", "polled"]
TextSource = Literal["stream", "screen", "transcript"]


class Delta(Struct, frozen=True):
    """New bytes of an epoch, starting at ``offset``. ``at`` is when the last byte was read."""

    epoch: EpochId
    offset: int
    data: bytes
    at: int

    @property
    def end(self) -> int:
        return self.offset + len(self.data)


class Epoch(Struct, frozen=True, kw_only=True):
    """A continuous capture of a pane's stream. Decoding can resume at the offset ``committed``."""

    id: EpochId
    pane: PaneId
    source: EpochSource
    opened_at: int
    closed_at: int | None = None
    ended_by: EpochEnd | None = None
    committed: int = 0
    size: int | None = None
    """Final length in bytes, once closed."""
    carry: bytes = b""
    """State for continuing at ``committed``. Never contains unredacted text."""
    next_line: int = 1
    """Number of the pane's next line when this was read from the store."""


class InitialLine(Struct, frozen=True, array_like=True):
    """The cursor's line when an epoch began, redacted. The first bytes of the epoch continue it."""

    text: str = ""
    column: int = 0
    is_stored: bool = False
    """True if this line is already stored as the last line."""


class Gap(Struct, frozen=True, kw_only=True):
    """Output that may be missing: between two epochs, or an uncertain tail."""

    id: int = 0
    pane: PaneId
    cause: GapCause
    start_at: int
    end_at: int | None = None
    after: EpochId | None = None
    before: EpochId | None = None
    detail: str = ""


class LinePosition(Struct, frozen=True):
    """How far a client has read a pane: up to line ``number``.

    ``rewritten_at`` (milliseconds) is when a line up to there was rewritten last. Lines that are rewritten later are
    read again. It is 0 for a pane whose program never rewrites its lines.
    """

    number: int
    rewritten_at: int = 0


class Line(Struct, frozen=True, kw_only=True):
    """One complete line of text. ``number`` increases strictly within a pane.

    A provisional line is still on the screen, where the program may rewrite it.
    """

    pane: PaneId
    number: int
    at: int
    text: str
    epoch: EpochId
    source: TextSource = "stream"
    is_provisional: bool = False


class TextBlock(Struct, frozen=True, kw_only=True):
    """Consecutive complete lines of one epoch, stored and indexed as one row.

    ``start`` and ``end`` are byte offsets in the epoch; ``at`` and ``until`` are the times of the first and last line.
    """

    epoch: EpochId
    start: int
    end: int
    at: int
    until: int
    lines: tuple[str, ...]
    source: TextSource = "stream"


MarkKind = Literal[
    "prompt_start",  # OSC 133 A, 633 A
    "input_start",  # OSC 133 B, 633 B
    "command_start",  # OSC 133 C, 633 C
    "command_end",  # OSC 133 D, 633 D
    "command_line",  # OSC 133 E, 633 E
    "prompt_property",  # OSC 133 P, 633 P
    "cwd",  # OSC 7
    "user_var",  # OSC 1337 SetUserVar
    "title",  # OSC 0, 2
    "notification",  # OSC 9, 99, 777
    "progress",  # OSC 9;4
    "agent",  # OSC 7501
    "end_of_program",  # our own end marker of managed programs
    "bell",
    "alt_screen_on",
    "alt_screen_off",
    "paste_on",
    "paste_off",
    "sync_on",
    "sync_off",
    "reset",  # RIS, DECSTR: the program reset the terminal
]


class Mark(Struct, frozen=True, kw_only=True):
    """An escape sequence that informs the terminal about a prompt, command, title or mode.

    ``offset`` is where the sequence ends in its epoch; ``text`` is the payload, ``params`` its key=value parts.
    """

    kind: MarkKind
    offset: int
    row: int = 0
    text: str = ""
    exit_code: int | None = None
    column: int | None = None
    """Column where a shell's input starts. Set only for `input_start`."""
    params: dict[str, str] = {}
