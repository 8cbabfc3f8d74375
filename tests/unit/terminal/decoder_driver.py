"""Decode bytes in chunks, with or without restarts from checkpoints, and collect the output."""

from collections.abc import Iterable
from itertools import pairwise

from msgspec import Struct

from termvisor.model.ids import EpochId
from termvisor.model.terminal.output import Delta, Mark
from termvisor.terminal.text_decoder import DecodedOutput, TextDecoder

DecodedRow = tuple[str, int, int]


class DecodedText(Struct, frozen=True):
    """The lines as (text, start, end) and the marks, in order."""

    rows: tuple[DecodedRow, ...]
    marks: tuple[Mark, ...]

    @property
    def texts(self) -> list[str]:
        return [text for text, _, _ in self.rows]

    @property
    def kinds(self) -> list[str]:
        return [mark.kind for mark in self.marks]


def build_delta(data: bytes, offset: int = 0, at: int = 0) -> Delta:
    return Delta(EpochId(1), offset, data, at)


def decode(data: bytes, cuts: Iterable[int] = ()) -> DecodedText:
    stage = TextDecoder()
    outputs = [stage.feed(build_delta(data[start:end], start)) for start, end in split_at(data, cuts)]
    return join_decoded([*outputs, stage.finish(0)])


def decode_with_restarts(data: bytes, cuts: Iterable[int] = ()) -> DecodedText:
    """Decode with a new decoder from the checkpoint at every cut."""
    offset, carry = 0, b""
    outputs = []
    for _, end in split_at(data, cuts):
        stage = TextDecoder(offset, carry)
        outputs.append(stage.feed(build_delta(data[offset:end], offset)))
        offset, carry = stage.build_checkpoint()
    last = TextDecoder(offset, carry)
    outputs.append(last.feed(build_delta(data[offset:], offset)))
    return join_decoded([*outputs, last.finish(0)])


def split_at(data: bytes, cuts: Iterable[int]) -> Iterable[tuple[int, int]]:
    return pairwise([0, *sorted(cuts), len(data)])


def join_decoded(outputs: Iterable[DecodedOutput]) -> DecodedText:
    parts = list(outputs)
    return DecodedText(
        tuple((line.text, line.start, line.end) for part in parts for line in part.lines),
        tuple(mark for part in parts for mark in part.marks),
    )
