"""A pane's past in the order in which it happened: bytes to draw, changes of size, what is missing. Pure.

Invariant: the bytes of all portions of an epoch, joined, are the bytes that are kept of it; only where they are cut
depends on the span.
"""

from collections.abc import Iterable, Iterator, Sequence
from heapq import merge

from msgspec import Struct

from termvisor.clock import NS
from termvisor.model.ids import EpochId
from termvisor.model.terminal.output import Delta, Epoch, Gap
from termvisor.model.terminal.screen import Screen

_MAX_CHUNK_BYTES = 1 << 18
"""What is not shown is drawn in portions of so many bytes."""


class ReplaySpan(Struct, frozen=True):
    """Which part of the past to show; what was printed within ``interval`` nanoseconds is shown as one frame."""

    since: int | None = None
    until: int | None = None
    interval: int = NS // 30


class PaneResized(Struct, frozen=True):
    at: int
    width: int
    height: int


class MissingOutput(Struct, frozen=True):
    """Something that was printed here cannot be drawn."""

    at: int
    note: str


class OutputChunk(Struct, frozen=True):
    """Bytes to draw in one go. ``end`` is the offset behind them, ``at`` when the last of them was printed."""

    at: int
    epoch: EpochId
    data: bytes
    end: int


TimelineEvent = Delta | PaneResized | MissingOutput
ReplayStep = OutputChunk | PaneResized | MissingOutput


class TimelineSegment(Struct, frozen=True):
    """Epochs that follow each other without a break: one screen is drawn from the first byte to the last."""

    epochs: tuple[Epoch, ...]
    first_screen: Screen
    other_events: tuple[PaneResized | MissingOutput, ...] = ()

    @property
    def opened_at(self) -> int:
        return self.epochs[0].opened_at


def build_segments(
    epochs: Sequence[Epoch], first_screens: dict[EpochId, Screen], default_screen: Screen
) -> list[TimelineSegment]:
    """Epochs that were heard, put together where one joined the next; ``usual`` stands in for an unknown screen."""
    found: list[list[Epoch]] = []
    is_joined = False
    for epoch in epochs:
        if epoch.ended_by == "joined" and not epoch.size:
            continue
        if is_joined:
            found[-1].append(epoch)
        else:
            found.append([epoch])
        is_joined = epoch.ended_by == "joined"
    return [TimelineSegment(tuple(group), first_screens.get(group[0].id, default_screen)) for group in found]


def select_segments(
    segments: Sequence[TimelineSegment], other_events: Iterable[PaneResized | MissingOutput], span: ReplaySpan
) -> list[TimelineSegment]:
    """The stretches of a span, from the one that it begins in; each with what happened beside its bytes."""
    begun = [index for index, one in enumerate(segments) if span.since is not None and one.opened_at <= span.since]
    first = begun[-1] if begun else 0
    shown = [one for one in segments[first:] if span.until is None or one.opened_at <= span.until]
    ends = [one.opened_at for one in shown[1:]] + [None]
    events = sorted(other_events, key=lambda other: other.at)
    return [
        TimelineSegment(one.epochs, one.first_screen, tuple(_select_between(events, one.opened_at, end)))
        for one, end in zip(shown, ends, strict=False)
    ]


def _select_between(
    events: Sequence[PaneResized | MissingOutput], start: int, end: int | None
) -> Iterator[PaneResized | MissingOutput]:
    return (event for event in events if start <= event.at and (end is None or event.at < end))


def describe_gap(gap: Gap) -> MissingOutput:
    lasting = "" if gap.end_at is None else f" for {(gap.end_at - gap.start_at) / NS:.1f} s"
    detail = f": {gap.detail}" if gap.detail else ""
    return MissingOutput(gap.start_at, f"gap: {gap.cause}{lasting}{detail}")


def mark_missing(deltas: Iterable[Delta]) -> Iterator[Delta | MissingOutput]:
    """The bytes, and where some of them are no longer kept."""
    ends: dict[EpochId, int] = {}
    for delta in deltas:
        end = ends.get(delta.epoch, 0)
        if delta.offset > end:
            yield MissingOutput(delta.at, f"{delta.offset - end} bytes before this are no longer kept")
        ends[delta.epoch] = delta.end
        yield delta


def find_unfinished_sequence(data: bytes) -> int:
    """Where a string for the terminal begins that does not end here (a title, a clipboard); else the length.

    tmux gives such a string up when its end does not come within some seconds, and shows the rest of it as text. How
    long we wait between two portions has nothing to do with what happened, so its beginning waits for its end.
    """
    start = data.rfind(b"\x1b")
    head, rest = data[start + 1 : start + 2], data[start + 2 :]
    if start < 0 or not head or head not in b"]PX^_k" or len(rest) > _MAX_CHUNK_BYTES:
        return len(data)
    ends = b"\x18\x1a\x07" if head == b"]" else b"\x18\x1a"
    return len(data) if any(end in rest for end in ends) else start


def iterate_steps(deltas: Iterable[Delta], segment: TimelineSegment, span: ReplaySpan) -> Iterator[ReplayStep]:
    """What to do, one after the other, until the span is over."""
    held: list[Delta] = []
    for moment in merge(mark_missing(deltas), segment.other_events, key=lambda moment: moment.at):
        if span.until is not None and moment.at > span.until:
            break
        if held and not (isinstance(moment, Delta) and _fits_chunk(held, moment, span)):
            yield _build_chunk(held)
            held = []
        if isinstance(moment, Delta):
            held.append(moment)
        else:
            yield moment
    if held:
        yield _build_chunk(held)


def _fits_chunk(pending: Sequence[Delta], delta: Delta, span: ReplaySpan) -> bool:
    if delta.epoch != pending[-1].epoch:
        return False
    if span.since is not None and pending[0].at < span.since:
        return delta.at < span.since and delta.end - pending[0].offset <= _MAX_CHUNK_BYTES
    return delta.at - pending[0].at < span.interval


def _build_chunk(deltas: Sequence[Delta]) -> OutputChunk:
    last = deltas[-1]
    return OutputChunk(last.at, last.epoch, b"".join(delta.data for delta in deltas), last.end)
