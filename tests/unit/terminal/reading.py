"""Feed bytes to a text stage in pieces, with or without dying on the way, and see what came out in all."""

from collections.abc import Iterable
from itertools import pairwise

from msgspec import Struct

from termvisor.model.ids import EpochId
from termvisor.model.terminal.mark import Mark
from termvisor.model.terminal.output import Delta
from termvisor.terminal.text_decoder import Derived, TextStage

Row = tuple[str, int, int]


class Story(Struct, frozen=True):
    """The lines as (text, start, end) and the marks, in order."""

    rows: tuple[Row, ...]
    marks: tuple[Mark, ...]

    @property
    def texts(self) -> list[str]:
        return [text for text, _, _ in self.rows]

    @property
    def kinds(self) -> list[str]:
        return [mark.kind for mark in self.marks]


def delta(data: bytes, offset: int = 0, at: int = 0) -> Delta:
    return Delta(EpochId(1), offset, data, at)


def read(data: bytes, cuts: Iterable[int] = ()) -> Story:
    stage = TextStage()
    heard = [stage.feed(delta(data[start:end], start)) for start, end in pieces(data, cuts)]
    return story([*heard, stage.finish(0)])


def read_dying(data: bytes, cuts: Iterable[int] = ()) -> Story:
    """At every cut the stage is lost, and another one goes on from its checkpoint."""
    offset, carry = 0, b""
    heard = []
    for _, end in pieces(data, cuts):
        stage = TextStage(offset, carry)
        heard.append(stage.feed(delta(data[offset:end], offset)))
        offset, carry = stage.checkpoint()
    last = TextStage(offset, carry)
    heard.append(last.feed(delta(data[offset:], offset)))
    return story([*heard, last.finish(0)])


def pieces(data: bytes, cuts: Iterable[int]) -> Iterable[tuple[int, int]]:
    return pairwise([0, *sorted(cuts), len(data)])


def story(heard: Iterable[Derived]) -> Story:
    parts = list(heard)
    return Story(
        tuple((line.text, line.start, line.end) for part in parts for line in part.lines),
        tuple(mark for part in parts for mark in part.marks),
    )
