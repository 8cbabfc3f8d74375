"""Files that are not recordings are rejected; instants are offsets or timestamps."""

from pathlib import Path

import pytest

from termvisor.agents.recordings.open_recording import open_recording, resolve_instant
from termvisor.clock import NS
from termvisor.errors import BadRequest
from tests.recordings.scene import RECORDINGS_FOLDER


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"", "it is empty"),
        (b"hello\n", "JSON is malformed"),
        (b'{"what": 1}', "missing required field"),
        (b"\xff\xfe\x00", "is not a recording"),
    ],
)
def test_a_file_that_is_not_a_recording_is_rejected(tmp_path: Path, text: bytes, why: str) -> None:
    path = tmp_path / "some.json"
    path.write_bytes(text)
    with pytest.raises(BadRequest, match=why):
        open_recording(str(path))


def test_an_unreadable_file_is_rejected(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(BadRequest, match="cannot read"):
            open_recording(str(path))


def test_a_screen_without_an_agent_is_not_a_recording() -> None:
    with pytest.raises(BadRequest, match="is not a recording of an agent"):
        open_recording(str(RECORDINGS_FOLDER / "near_misses" / "vim_codex.json"))


def test_an_instant_is_an_offset_or_a_timestamp() -> None:
    recording = open_recording(str(RECORDINGS_FOLDER / "codex" / "start.json"))
    assert resolve_instant(recording, "") == recording.ended_at
    assert resolve_instant(recording, "90s") == recording.began_at + 90 * NS
    assert resolve_instant(recording, "1970-01-01T00:01:00Z") == 60 * NS
    with pytest.raises(BadRequest, match="invalid time"):
        resolve_instant(recording, "soon")
