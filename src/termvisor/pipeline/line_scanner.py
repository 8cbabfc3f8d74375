"""The settled lines of one epoch are looked through, from batch to batch, as if they were one text.

Invariant: what is found in a batch, and what must be known to go on after it, are stored together with its lines; so
neither a border between batches nor a crash loses a detection or doubles one.
"""

from collections.abc import Iterable, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.mark import Mark
from termvisor.model.terminal.output import Block
from termvisor.pipeline.rule_match import BEFORE, Place, Spot
from termvisor.pipeline.rule_matcher import Held, Spotter
from termvisor.store.tables.pipeline_commit import Found

_HELD = 16


class Spotted(Struct, frozen=True, array_like=True):
    """What must be known to go on: the last lines, and what waits for its agent."""

    last: tuple[str, ...] = ()
    held: tuple[Held, ...] = ()


class LineWatch:
    def __init__(self, spotter: Spotter, pane: PaneId, epoch: EpochId, spotted: Spotted):
        self._spotter = spotter
        self.spotted = spotted
        self._lines = Place(pane=pane, epoch=epoch, source="stream")
        self._marks = replace(self._lines, source="mark")

    @property
    def is_waiting(self) -> bool:
        return bool(self.spotted.held)

    def look(self, blocks: Sequence[Block], marks: Sequence[tuple[int, Mark]]) -> tuple[Found, ...]:
        """What is to be stored with these lines and marks, and of what waited before."""
        texts = [line for block in blocks for line in block.lines]
        spots = self._spotter.spot(self._lines, texts, partial(_time, blocks), self.spotted.last)
        heard = self._heard(marks) if self._spotter.hears_marks else []
        ready, held = self._spotter.tried_again(self.spotted.held) if self.spotted.held else ([], ())
        held += self._spotter.waiting([*spots, *heard])
        last = (*self.spotted.last, *texts[-BEFORE:])[-BEFORE:] if texts else self.spotted.last
        self.spotted = Spotted(last, held[-_HELD:])
        told = [Found(one) for one in ready] + [Found(one.detection, one.line) for one in spots if one.detection]
        return (*told, *(Found(one.detection) for one in heard if one.detection))

    def hold(self, spots: Iterable[Spot]) -> None:
        """Keep what was found on this pane's screen until its agent is known."""
        held = (*self.spotted.held, *self._spotter.waiting(spots))
        self.spotted = replace(self.spotted, held=held[-_HELD:])

    def _heard(self, marks: Sequence[tuple[int, Mark]]) -> list[Spot]:
        said = [(at, f"{mark.kind} {mark.text}") for at, mark in marks if mark.text]
        return [spot for at, text in said for spot in self._spotter.spot_mark(self._marks, text, at)]


def _time(blocks: Sequence[Block], line: int) -> int:
    """When a line of some blocks was printed; asked for lines that hit only, which are few."""
    for block in blocks:
        if line < len(block.lines):
            return block.until
        line -= len(block.lines)
    return blocks[-1].until
