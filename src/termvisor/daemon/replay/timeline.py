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

_PORTION = 1 << 18
"""What is not shown is drawn in portions of so many bytes."""


class Span(Struct, frozen=True):
    """Which part of the past to show; what was printed within ``interval`` nanoseconds is shown as one frame."""

    since: int | None = None
    until: int | None = None
    interval: int = NS // 30


class Resized(Struct, frozen=True):
    at: int
    width: int
    height: int


class Missing(Struct, frozen=True):
    """Something that was printed here cannot be drawn."""

    at: int
    note: str


class Portion(Struct, frozen=True):
    """Bytes to draw in one go. ``end`` is the offset behind them, ``at`` when the last of them was printed."""

    at: int
    epoch: EpochId
    data: bytes
    end: int


Moment = Delta | Resized | Missing
Step = Portion | Resized | Missing


class Stretch(Struct, frozen=True):
    """Epochs that follow each other without a break: one screen is drawn from the first byte to the last."""

    epochs: tuple[Epoch, ...]
    first: Screen
    others: tuple[Resized | Missing, ...] = ()

    @property
    def opened_at(self) -> int:
        return self.epochs[0].opened_at


def stretches(epochs: Sequence[Epoch], firsts: dict[EpochId, Screen], usual: Screen) -> list[Stretch]:
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
    return [Stretch(tuple(group), firsts.get(group[0].id, usual)) for group in found]


def chosen(found: Sequence[Stretch], others: Iterable[Resized | Missing], span: Span) -> list[Stretch]:
    """The stretches of a span, from the one that it begins in; each with what happened beside its bytes."""
    begun = [index for index, one in enumerate(found) if span.since is not None and one.opened_at <= span.since]
    first = begun[-1] if begun else 0
    shown = [one for one in found[first:] if span.until is None or one.opened_at <= span.until]
    ends = [one.opened_at for one in shown[1:]] + [None]
    events = sorted(others, key=lambda other: other.at)
    return [
        Stretch(one.epochs, one.first, tuple(_between(events, one.opened_at, end)))
        for one, end in zip(shown, ends, strict=False)
    ]


def _between(events: Sequence[Resized | Missing], start: int, end: int | None) -> Iterator[Resized | Missing]:
    return (event for event in events if start <= event.at and (end is None or event.at < end))


def gap_note(gap: Gap) -> Missing:
    lasting = "" if gap.end_at is None else f" for {(gap.end_at - gap.start_at) / NS:.1f} s"
    detail = f": {gap.detail}" if gap.detail else ""
    return Missing(gap.start_at, f"gap: {gap.cause}{lasting}{detail}")


def kept(deltas: Iterable[Delta]) -> Iterator[Delta | Missing]:
    """The bytes, and where some of them are no longer kept."""
    ends: dict[EpochId, int] = {}
    for delta in deltas:
        end = ends.get(delta.epoch, 0)
        if delta.offset > end:
            yield Missing(delta.at, f"{delta.offset - end} bytes before this are no longer kept")
        ends[delta.epoch] = delta.end
        yield delta


def unfinished(data: bytes) -> int:
    """Where a string for the terminal begins that does not end here (a title, a clipboard); else the length.

    tmux gives such a string up when its end does not come within some seconds, and shows the rest of it as text. How
    long we wait between two portions has nothing to do with what happened, so its beginning waits for its end.
    """
    start = data.rfind(b"\x1b")
    head, rest = data[start + 1 : start + 2], data[start + 2 :]
    if start < 0 or not head or head not in b"]PX^_k" or len(rest) > _PORTION:
        return len(data)
    ends = b"\x18\x1a\x07" if head == b"]" else b"\x18\x1a"
    return len(data) if any(end in rest for end in ends) else start


def steps(deltas: Iterable[Delta], stretch: Stretch, span: Span) -> Iterator[Step]:
    """What to do, one after the other, until the span is over."""
    held: list[Delta] = []
    for moment in merge(kept(deltas), stretch.others, key=lambda moment: moment.at):
        if span.until is not None and moment.at > span.until:
            break
        if held and not (isinstance(moment, Delta) and _goes_with(held, moment, span)):
            yield _portion(held)
            held = []
        if isinstance(moment, Delta):
            held.append(moment)
        else:
            yield moment
    if held:
        yield _portion(held)


def _goes_with(held: Sequence[Delta], delta: Delta, span: Span) -> bool:
    if delta.epoch != held[-1].epoch:
        return False
    if span.since is not None and held[0].at < span.since:
        return delta.at < span.since and delta.end - held[0].offset <= _PORTION
    return delta.at - held[0].at < span.interval


def _portion(held: Sequence[Delta]) -> Portion:
    last = held[-1]
    return Portion(last.at, last.epoch, b"".join(delta.data for delta in held), last.end)
