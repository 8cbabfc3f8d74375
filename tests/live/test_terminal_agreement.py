"""Two emulators, one screen: libghostty-vt and @xterm/headless on the recorded output of real programs."""

import base64
import ctypes
import json
import subprocess
from pathlib import Path

import pytest

from termvisor.backends.pty import ghostty_library as ghostty
from termvisor.backends.pty.ghostty_model import build_ghostty_model
from tests.recordings.terminal_recording import RECORDINGS_FOLDER, Recording, read_recording

pytestmark = pytest.mark.live
ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / ".parts/xterm-headless/lib-headless/xterm-headless.js"
_INVALID_BYTES = "bytes that are no text: libghostty-vt shows a sign for each, xterm.js shows nothing"
_WIDE_AT_EDGE = "a wide character that does not fit: the two count the columns of some characters differently"
KNOWN_DIFFERENCES = {
    "cp850-40": _INVALID_BYTES,
    "latin1-40": _INVALID_BYTES,
    "shift_jis-80": _INVALID_BYTES,
    "cut_cyrillic_columns-40": _INVALID_BYTES,
    "bash_wide_characters-40": _WIDE_AT_EDGE,
    "unicode_scripts-40": _WIDE_AT_EDGE,
    "node_bars-40": "text that is printed over the last column: xterm.js keeps its last character there",
}
"""Recordings on whose screen the two differ, and why."""


def read_xterm_screens(recordings: list[Recording]) -> list[list[str]]:
    assert PACKAGE.exists(), "@xterm/headless is missing. Install it with: .ci/setup live"
    asked = [
        {
            "columns": recording.width,
            "rows": recording.height,
            "chunks": [base64.b64encode(recording.output).decode()],
        }
        for recording in recordings
    ]
    command = ["node", str(Path(__file__).with_name("xterm_screens.mjs")), str(PACKAGE)]
    found = subprocess.run(command, input=json.dumps(asked).encode(), capture_output=True, check=True, timeout=60)
    return [[row.rstrip() for row in screens[-1]] for screens in json.loads(found.stdout)]


def read_ghostty_screen(recording: Recording) -> list[str]:
    """Return the rows of the screen as they are shown, wrapped rows not joined."""
    model = build_ghostty_model(ghostty.find_library(), recording.width, recording.height)
    model.feed(recording.output)
    history = model._get_number(ghostty.DATA_SCROLLBACK_ROWS, ctypes.c_size_t)
    end = history + recording.height
    rows = model._read_rows(history, end, recording.width, ghostty.FORMAT_PLAIN, unwrap=False)
    model.close()
    return [row.rstrip() for row in [*rows, *[""] * (recording.height - len(rows))]]


def test_both_show_the_same_screen_except_where_it_is_known():
    recordings = [one for one in map(read_recording, sorted(RECORDINGS_FOLDER.glob("*.json"))) if not one.resizes]
    different = {
        recording.name
        for recording, other in zip(recordings, read_xterm_screens(recordings), strict=True)
        if read_ghostty_screen(recording) != other
    }
    assert different == set(KNOWN_DIFFERENCES)
    assert len(recordings) - len(different) >= 0.73 * len(recordings)
