"""Recordings: the bytes that a program printed in a pane of the real tmux, and the text that tmux showed.

Written by `python -m tests.live.text_differential.record_samples`, decoded by tests without the programs.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from termvisor.model.ids import EpochId
from termvisor.model.terminal.output import Delta
from termvisor.terminal.text_decoder import TextDecoder

RECORDINGS_FOLDER = Path(__file__).parent / "terminal"
REPLACEMENT_CHARACTER = "\ufffd"
"""We keep a sign for bytes that are no text; tmux shows nothing for them."""
# Twice: the first may only end an escape sequence inside a device control string.
END_OF_STRING, END_TITLE = b"\x1b\\\x1b\\", "text-recorded"
END_MARK = END_OF_STRING + b"\x1b]2;" + END_TITLE.encode() + b"\x07"
"""Printed after a program. When tmux reports the title, it has processed all that the program printed."""


class Resize(Struct, frozen=True):
    """A new size of the pane, effective from this offset of the output on."""

    offset: int
    width: int
    height: int
    quiet_offset: int = 0
    """Where the output was when the program had redrawn its screen."""


class Recording(Struct, frozen=True):
    name: str
    width: int
    height: int
    output: bytes
    text: tuple[str, ...]
    """Lines of `capture-pane -pJ -S -`, normalized."""
    resizes: tuple[Resize, ...] = ()
    earlier_texts: tuple[tuple[str, ...], ...] = ()
    """What tmux showed just before each resize."""

    def split_into_deltas(self) -> Iterator[tuple[Resize | None, Delta]]:
        """Yield deltas of random sizes, each with the resize that precedes it."""
        chance = random.Random(self.name)
        pending, offset = list(self.resizes), 0
        while offset < len(self.output) or pending:
            resize = pending.pop(0) if pending and pending[0].offset == offset else None
            end = min(offset + chance.choice((1, 7, 200, 4096, 65536)), len(self.output))
            end = min(end, pending[0].offset) if pending else end
            yield resize, Delta(EpochId(1), offset, self.output[offset:end], 0)
            offset = end


def normalize(lines: Iterator[str] | list[str]) -> tuple[str, ...]:
    """Remove trailing blanks, blank rows at the end and replacement characters."""
    found = [line.replace(REPLACEMENT_CHARACTER, "").rstrip() for line in lines]
    while found and not found[-1]:
        found.pop()
    return tuple(found)


def decode_recording(recording: Recording) -> tuple[str, ...]:
    """Return the settled and the provisional lines of a recording, normalized."""
    decoder = TextDecoder(recording.width, recording.height)
    lines: list[str] = []
    for resize, delta in recording.split_into_deltas():
        if resize is not None:
            lines += (line.text for line in decoder.resize(resize.width, resize.height).lines)
        lines += (line.text for line in decoder.feed(delta).lines)
    lines += (line.text for line in decoder.list_provisional_lines())
    return normalize(lines)


def write_recording(recording: Recording, path: Path) -> None:
    """Write a recording as JSON that can be read; bytes that are no UTF-8 become single surrogates."""
    content = {
        "size": [recording.width, recording.height],
        "resizes": [[resize.offset, resize.width, resize.height] for resize in recording.resizes],
        "output": recording.output.decode("utf-8", "surrogateescape"),
        "text": recording.text,
    }
    path.write_text(json.dumps(content, indent=1) + "\n")


def read_recording(path: Path) -> Recording:
    content = json.loads(path.read_text())
    return Recording(
        name=path.stem,
        width=content["size"][0],
        height=content["size"][1],
        output=content["output"].encode("utf-8", "surrogateescape"),
        text=tuple(content["text"]),
        resizes=tuple(Resize(*resize) for resize in content["resizes"]),
    )
