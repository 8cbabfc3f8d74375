"""Decode bytes in chunks, with or without restarts from snapshots, and collect the output."""

from collections.abc import Iterable
from itertools import pairwise

from msgspec import Struct

from termvisor.model.ids import EpochId
from termvisor.model.terminal.output import Delta, Mark
from termvisor.terminal.row_window import LineAnchor, ProvisionalLine
from termvisor.terminal.text_decoder import DecodedOutput, TextDecoder

DecodedRow = tuple[str, int, int]
WIDTH, HEIGHT = 80, 24


class DecodedText(Struct, frozen=True):
    """The lines as (text, start, end), the marks and the anchors in order, and the state before the end."""

    rows: tuple[DecodedRow, ...]
    marks: tuple[Mark, ...]
    anchors: tuple[LineAnchor, ...] = ()
    provisional: tuple[ProvisionalLine, ...] = ()
    current_anchors: tuple[LineAnchor, ...] = ()

    @property
    def texts(self) -> list[str]:
        return [text for text, _, _ in self.rows]

    @property
    def kinds(self) -> list[str]:
        return [mark.kind for mark in self.marks]


def build_delta(data: bytes, offset: int = 0, at: int = 0) -> Delta:
    return Delta(EpochId(1), offset, data, at)


def build_decoder(data: bytes = b"", width: int = WIDTH, height: int = HEIGHT) -> TextDecoder:
    """Return a decoder that was fed these bytes."""
    decoder = TextDecoder(width, height)
    decoder.feed(build_delta(data))
    return decoder


def decode(data: bytes, cuts: Iterable[int] = (), *, width: int = WIDTH, height: int = HEIGHT) -> DecodedText:
    decoder = TextDecoder(width, height)
    outputs = [decoder.feed(build_delta(data[start:end], start)) for start, end in split_at(data, cuts)]
    return finish_decoding(decoder, outputs)


def decode_with_restarts(
    data: bytes, cuts: Iterable[int] = (), *, width: int = WIDTH, height: int = HEIGHT
) -> DecodedText:
    """Decode with a new decoder from a snapshot at every cut."""
    decoder, outputs = TextDecoder(width, height), []
    for start, end in split_at(data, cuts):
        outputs.append(decoder.feed(build_delta(data[start:end], start)))
        decoder = TextDecoder.load(decoder.snapshot())
    return finish_decoding(decoder, outputs)


def split_at(data: bytes, cuts: Iterable[int]) -> Iterable[tuple[int, int]]:
    return pairwise([0, *sorted(cuts), len(data)])


def finish_decoding(decoder: TextDecoder, outputs: list[DecodedOutput]) -> DecodedText:
    provisional, anchors = tuple(decoder.list_provisional_lines()), tuple(decoder.locate_anchors())
    parts = [*outputs, decoder.finish(0)]
    return DecodedText(
        tuple((line.text, line.start, line.end) for part in parts for line in part.lines),
        tuple(mark for part in parts for mark in part.marks),
        tuple(anchor for part in parts for anchor in part.anchors),
        provisional,
        anchors,
    )
