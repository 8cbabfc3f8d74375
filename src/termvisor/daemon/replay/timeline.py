"""Order the recorded history of a pane into replay steps: output chunks, resizes and missing output. Pure.

Invariant: the joined chunks of an epoch are all of its stored bytes; the span affects only where they are split.
"""

from collections.abc import Iterable, Iterator, Sequence
from heapq import merge

from msgspec import Struct

from termvisor.clock import NS
from termvisor.model.ids import EpochId
from termvisor.model.terminal.output import Delta, Epoch, Gap
from termvisor.model.terminal.screen import Screen

# Chunk size for output before the span, which is drawn but not shown.
_MAX_CHUNK_BYTES = 1 << 18


class ReplaySpan(Struct, frozen=True):
    """The time span to show; output within ``interval`` nanoseconds becomes one frame."""

    since: int | None = None
    until: int | None = None
    interval: int = NS // 30


class PaneResized(Struct, frozen=True):
    at: int
    width: int
    height: int


class MissingOutput(Struct, frozen=True):
    """Marks a point where output was not captured or was deleted."""

    at: int
    note: str


class OutputChunk(Struct, frozen=True):
    """Bytes to feed in one step. ``end`` is the offset after them, ``at`` the time of the last one."""

    at: int
    epoch: EpochId
    data: bytes
    end: int


TimelineEvent = Delta | PaneResized | MissingOutput
ReplayStep = OutputChunk | PaneResized | MissingOutput


class TimelineSegment(Struct, frozen=True):
    """Consecutive epochs without a gap, drawn on one screen from the first byte to the last."""

    epochs: tuple[Epoch, ...]
    first_screen: Screen
    other_events: tuple[PaneResized | MissingOutput, ...] = ()

    @property
    def opened_at(self) -> int:
        return self.epochs[0].opened_at


def build_segments(
    epochs: Sequence[Epoch], first_screens: dict[EpochId, Screen], default_screen: Screen
) -> list[TimelineSegment]:
    """Group epochs into segments; ``default_screen`` replaces a first screen that was not stored."""
    groups: list[list[Epoch]] = []
    is_joined = False
    for epoch in epochs:
        if epoch.ended_by == "joined" and not epoch.size:
            continue
        if is_joined:
            groups[-1].append(epoch)
        else:
            groups.append([epoch])
        is_joined = epoch.ended_by == "joined"
    return [TimelineSegment(tuple(group), first_screens.get(group[0].id, default_screen)) for group in groups]


def select_segments(
    segments: Sequence[TimelineSegment], other_events: Iterable[PaneResized | MissingOutput], span: ReplaySpan
) -> list[TimelineSegment]:
    """Select the segments of a span, and add the resizes and gaps of each."""
    since = span.since
    started = [index for index, item in enumerate(segments) if since is not None and item.opened_at <= since]
    first = started[-1] if started else 0
    selected = [item for item in segments[first:] if span.until is None or item.opened_at <= span.until]
    ends = [item.opened_at for item in selected[1:]] + [None]
    events = sorted(other_events, key=lambda event: event.at)
    return [
        TimelineSegment(item.epochs, item.first_screen, tuple(_select_between(events, item.opened_at, end)))
        for item, end in zip(selected, ends, strict=False)
    ]


def _select_between(
    events: Sequence[PaneResized | MissingOutput], start: int, end: int | None
) -> Iterator[PaneResized | MissingOutput]:
    return (event for event in events if start <= event.at and (end is None or event.at < end))


def describe_gap(gap: Gap) -> MissingOutput:
    duration = "" if gap.end_at is None else f" for {(gap.end_at - gap.start_at) / NS:.1f} s"
    detail = f": {gap.detail}" if gap.detail else ""
    return MissingOutput(gap.start_at, f"gap: {gap.cause}{duration}{detail}")


def mark_missing(deltas: Iterable[Delta]) -> Iterator[Delta | MissingOutput]:
    """Yield the deltas, with a marker where earlier bytes are deleted."""
    ends: dict[EpochId, int] = {}
    for delta in deltas:
        end = ends.get(delta.epoch, 0)
        if delta.offset > end:
            yield MissingOutput(delta.at, f"{delta.offset - end} earlier bytes are no longer stored")
        ends[delta.epoch] = delta.end
        yield delta


def find_unfinished_sequence(data: bytes) -> int:
    """Return the start of an unterminated string sequence (a title, a clipboard) at the end, else the length.

    If the end of such a string does not arrive within a few seconds, tmux shows the rest as text. The time between two
    chunks of a replay is arbitrary, so the start of the sequence must be held back until its end arrives.
    """
    start = data.rfind(b"\x1b")
    head, rest = data[start + 1 : start + 2], data[start + 2 :]
    if start < 0 or not head or head not in b"]PX^_k" or len(rest) > _MAX_CHUNK_BYTES:
        return len(data)
    ends = b"\x18\x1a\x07" if head == b"]" else b"\x18\x1a"
    return len(data) if any(end in rest for end in ends) else start


def iterate_steps(deltas: Iterable[Delta], segment: TimelineSegment, span: ReplaySpan) -> Iterator[ReplayStep]:
    """Yield the replay steps of a segment in order, up to the end of the span."""
    pending: list[Delta] = []
    for event in merge(mark_missing(deltas), segment.other_events, key=lambda event: event.at):
        if span.until is not None and event.at > span.until:
            break
        if pending and not (isinstance(event, Delta) and _fits_chunk(pending, event, span)):
            yield _build_chunk(pending)
            pending = []
        if isinstance(event, Delta):
            pending.append(event)
        else:
            yield event
    if pending:
        yield _build_chunk(pending)


def _fits_chunk(pending: Sequence[Delta], delta: Delta, span: ReplaySpan) -> bool:
    if delta.epoch != pending[-1].epoch:
        return False
    if span.since is not None and pending[0].at < span.since:
        return delta.at < span.since and delta.end - pending[0].offset <= _MAX_CHUNK_BYTES
    return delta.at - pending[0].at < span.interval


def _build_chunk(deltas: Sequence[Delta]) -> OutputChunk:
    last = deltas[-1]
    return OutputChunk(last.at, last.epoch, b"".join(delta.data for delta in deltas), last.end)
