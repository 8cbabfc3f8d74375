"""Recordings of real programs: the decoded text is the text that the real tmux showed."""

import json

import pytest

from tests.live.text_differential.documented_differences import build_stored_text
from tests.live.text_differential.sequences import (
    RAW_SEQUENCES,
    SAMPLE_SIZES,
    SEQUENCES,
    STORED_DIFFERENTLY,
    encode_sequence,
)
from tests.recordings.terminal_recording import RECORDINGS_FOLDER, Recording, decode_recording, read_recording

DOCUMENTED = {
    "clear-80": "`clear` erases tmux's history; what was shown stays stored",
    "erase_saved_lines": "ED 3 erases tmux's history; what was shown stays stored",
    "clear_of_tmux_terminfo": "ED 3 erases tmux's history; what was shown stays stored",
}
"""What we store differently on purpose: the text that tmux kept is the end of ours."""
ECHOED = ("device_queries",)
"""Sequences that tmux answers; the terminal echoes the answer, so the output is not only the sequence."""
EQUAL_SEQUENCES = sorted(
    (SEQUENCES | RAW_SEQUENCES).keys() - DOCUMENTED.keys() - STORED_DIFFERENTLY.keys() - set(ECHOED)
)
RECORDINGS = {path.stem: path for path in sorted(RECORDINGS_FOLDER.glob("*.json"))}
TEXTS = json.loads((RECORDINGS_FOLDER.parent / "terminal_sequences.json").read_text())


def build_sequence_recording(name: str, width: int, height: int) -> Recording:
    """Return the sequence as its pane got it: the terminal turns newlines into CR LF, unless it is told not to."""
    output = encode_sequence((SEQUENCES | RAW_SEQUENCES)[name], width, height)
    output = output if name in RAW_SEQUENCES else output.replace(b"\n", b"\r\n")
    return Recording(f"{name}-{width}", width, height, output, tuple(TEXTS[f"{name}-{width}"]))


@pytest.mark.parametrize("name", sorted(RECORDINGS.keys() - DOCUMENTED.keys()))
def test_the_text_of_a_recorded_program_is_what_tmux_showed(name: str) -> None:
    recording = read_recording(RECORDINGS[name])
    assert decode_recording(recording) == recording.text


@pytest.mark.parametrize("name", EQUAL_SEQUENCES)
@pytest.mark.parametrize("size", SAMPLE_SIZES)
def test_the_text_of_a_sequence_is_what_tmux_showed(name: str, size: tuple[int, int]) -> None:
    recording = build_sequence_recording(name, *size)
    assert decode_recording(recording) == recording.text


@pytest.mark.parametrize("name", sorted(STORED_DIFFERENTLY))
@pytest.mark.parametrize("size", SAMPLE_SIZES)
def test_a_rare_sequence_is_stored_as_documented(name: str, size: tuple[int, int]) -> None:
    recording = build_sequence_recording(name, *size)
    stored = decode_recording(recording)
    assert stored == build_stored_text(name, *size) != recording.text


@pytest.mark.parametrize("name", sorted(RECORDINGS.keys() & DOCUMENTED.keys()))
def test_erased_history_stays_stored(name: str) -> None:
    recording = read_recording(RECORDINGS[name])
    decoded = decode_recording(recording)
    assert decoded[-len(recording.text) :] == recording.text
    assert len(decoded) > len(recording.text)


@pytest.mark.parametrize("name", sorted(SEQUENCES.keys() & DOCUMENTED.keys()))
@pytest.mark.parametrize("size", SAMPLE_SIZES)
def test_erased_history_of_a_sequence_stays_stored(name: str, size: tuple[int, int]) -> None:
    recording = build_sequence_recording(name, *size)
    decoded = decode_recording(recording)
    assert decoded[-len(recording.text) :] == recording.text
    assert len(decoded) > len(recording.text)
