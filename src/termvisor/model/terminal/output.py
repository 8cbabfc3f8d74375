"""What panes print: bytes, the lines made of them, and what we cannot vouch for."""

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
    "log_truncated",
    "tail_uncertain",
]
GAP_CAUSES: tuple[GapCause, ...] = get_args(GapCause)

EpochEnd = Literal[GapCause, "joined", "pane_exited", "stopped"]
"""Why an epoch closed: a gap's cause, or an end after which nothing is missing."""

EpochSource = Literal["pipe", "control", "pty", "polled"]
TextSource = Literal["stream", "screen", "transcript"]


class Delta(Struct, frozen=True):
    """New bytes of one epoch, starting at ``offset`` in it; ``at`` is when the last of them was read."""

    epoch: EpochId
    offset: int
    data: bytes
    at: int

    @property
    def end(self) -> int:
        return self.offset + len(self.data)


class Epoch(Struct, frozen=True, kw_only=True):
    """An unbroken stretch of a pane's stream. ``committed`` is how far its bytes were made into text."""

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
    """What the text stage must know to go on at ``committed``; never holds text."""


class InitialLine(Struct, frozen=True, array_like=True):
    """The line in which the cursor stood when an epoch began: its redacted text, which the first bytes go on with."""

    text: str = ""
    column: int = 0
    is_stored: bool = False
    """It stands at the end of the stored lines already."""


NO_INITIAL_LINE = InitialLine()


class Gap(Struct, frozen=True, kw_only=True):
    """Bytes that we cannot vouch for: between two epochs, or an uncertain tail."""

    id: int = 0
    pane: PaneId
    cause: GapCause
    start_at: int
    end_at: int | None = None
    after: EpochId | None = None
    before: EpochId | None = None
    detail: str = ""


class Line(Struct, frozen=True, kw_only=True):
    """One settled line of text. ``number`` rises strictly within a pane."""

    pane: PaneId
    number: int
    at: int
    text: str
    epoch: EpochId
    source: TextSource = "stream"


class TextBlock(Struct, frozen=True, kw_only=True):
    """Consecutive settled lines of one epoch, stored and indexed as one row.

    ``start`` and ``end`` are byte offsets in the epoch, ``at`` and ``until`` the times of its first and last line.
    """

    epoch: EpochId
    start: int
    end: int
    at: int
    until: int
    lines: tuple[str, ...]
    source: TextSource = "stream"
