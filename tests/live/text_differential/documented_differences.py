"""What we store differently from tmux on purpose. docs/concepts.md names each of these for users."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from itertools import product

from msgspec import Struct
from msgspec.structs import replace

from tests.live.text_differential.sequences import STORED_DIFFERENTLY, encode_sequence
from tests.recordings.terminal_recording import Recording, decode_recording

Render = Callable[[Recording], tuple[str, ...]]
"""Shows other bytes in a pane of the real tmux and returns its text."""
_ERASE_HISTORY = re.compile(rb"\x1b\[3J")
_CHARACTER = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_MAX_LINE = 4096


class DocumentedDifference(Struct, frozen=True):
    name: str
    reason: str
    explains: Callable[[Recording, tuple[str, ...], Render], bool]
    """Returns True if our text differs from tmux's by nothing else."""


def keeps_erased_history(recording: Recording, ours: tuple[str, ...], render: Render) -> bool:
    output, count = _ERASE_HISTORY.subn(b"", recording.output)
    return count > 0 and not recording.resizes and render(replace(recording, output=output)) == ours


def cuts_long_lines(recording: Recording, ours: tuple[str, ...], _render: Render) -> bool:
    """Accept lines that are cut at their limit, if their pieces, joined, are the whole line."""
    rest = list(ours)
    for line in recording.text:
        pieces = rest.pop(0) if rest else ""
        while len(pieces.replace(" ", "")) < len(line.replace(" ", "")) and len(line) > _MAX_LINE and rest:
            pieces += rest.pop(0)
        if pieces.replace(" ", "") != line.replace(" ", "") if len(line) > _MAX_LINE else pieces != line:
            return False
    return not rest


def keeps_rewritten_history(recording: Recording, ours: tuple[str, ...], _render: Render) -> bool:
    """Accept further lines if tmux showed them before a resize and does not show them any more."""
    vanished = Counter[str]()
    for text in recording.earlier_texts:
        vanished |= Counter(text) - Counter(recording.text)
    expected = list(recording.text)
    for line in ours:
        if expected and line == expected[0]:
            expected.pop(0)
        elif vanished[line]:
            vanished[line] -= 1
        else:
            return False
    return not expected


def keeps_unknown_characters(recording: Recording, ours: tuple[str, ...], _render: Render) -> bool:
    """Accept further characters that have no width in the C library, where tmux's text is the same without them."""
    output = _CHARACTER.sub(
        lambda match: b"" if _is_unknown(match[0].decode(errors="ignore")) else match[0], recording.output
    )
    is_cause = output != recording.output and decode_recording(replace(recording, output=output)) == recording.text
    return is_cause and decode_recording(recording) == ours


def _is_unknown(character: str) -> bool:
    return len(character) == 1 and unicodedata.category(character) in ("Cn", "Zl", "Zp")


def is_sequence_stored_differently(recording: Recording, ours: tuple[str, ...], _render: Render) -> bool:
    name = recording.name.removeprefix("seq_").removesuffix(f"-{recording.width}")
    return name in STORED_DIFFERENTLY and ours == build_stored_text(name, recording.width, recording.height)


def build_stored_text(name: str, width: int, height: int) -> tuple[str, ...]:
    """Return the text that is stored for a sequence that tmux shows differently."""
    return tuple(encode_sequence(STORED_DIFFERENTLY[name][1], width, height).decode().split("\n"))


def sees_resizes_late(recording: Recording, ours: tuple[str, ...], _render: Render) -> bool:
    """Accept what is decoded with later resizes, if it is tmux's text with the exact ones."""
    late = [replace(resize, offset=max(resize.offset, resize.quiet_offset)) for resize in recording.resizes]
    return decode_recording(recording) == recording.text and any(
        decode_recording(replace(recording, resizes=resizes)) == ours
        for resizes in product(*zip(recording.resizes, late, strict=True))
    )


DOCUMENTED = (
    DocumentedDifference(
        "erased_history",
        "`clear` and `ED 3` erase tmux's history; what was shown stays stored",
        keeps_erased_history,
    ),
    DocumentedDifference(
        "long_lines",
        "a line of more than 4,096 characters is stored in pieces",
        cuts_long_lines,
    ),
    DocumentedDifference(
        "rewritten_history",
        "a resized pane shows rows of its history again; writing over them does not change what is stored",
        keeps_rewritten_history,
    ),
    DocumentedDifference(
        "unknown_characters",
        "tmux drops characters that its C library does not know; they are stored",
        keeps_unknown_characters,
    ),
    DocumentedDifference(
        "rare_sequences",
        "sequences that programs do not use; each has a reason of its own",
        is_sequence_stored_differently,
    ),
    DocumentedDifference(
        "late_resize",
        "a daemon learns of a resize up to half a second late; what is redrawn at once is decoded at the old size",
        sees_resizes_late,
    ),
)
