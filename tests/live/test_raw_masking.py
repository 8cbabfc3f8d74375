"""Which secrets are overwritten in the raw log, by the way in which they got on a real screen of 60 columns."""

import base64
import re
import sys
from pathlib import Path

import pytest

from termvisor.model.ids import EpochId
from termvisor.model.terminal.output import Delta
from termvisor.recorder.segment_log import SegmentReader
from termvisor.redaction import Redactor
from termvisor.terminal.text_decoder import TextDecoder
from termvisor.testing.private_tmux import make_short_folder
from tests.live.conftest import run_watched_tmux
from tests.live.polling import wait_until

HIDDEN = "aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3bC5dE7fG9hJ1kL3mN5pQ7rS9tU1vW3xY5zA7bC9dE1fG3hJ5k"
KEY = f"sk-ant-api03{HIDDEN[:82]}"
ENCODED = base64.b64encode(KEY.encode()).decode()
BOX = """
import sys, time
print("\\x1b[?1049h\\x1b[2J", end="")
for row, part in enumerate((KEY[:40], KEY[40:80], KEY[80:])):
    print(f"\\x1b[{5 + row};5H│ {part:<40} │", end="", flush=True)
time.sleep(1000)
"""
COMPOSER = """
import sys, time
print("\\x1b[?1049h\\x1b[2J", end="")
for number, char in enumerate(KEY):
    spinner = "|/-\\\\"[number % 4]
    print(f"\\x1b[{5 + number // 50};{5 + number % 50}H{char}\\x1b[1;1H{spinner}", end="", flush=True)
time.sleep(1000)
"""
WAYS = {
    "printf": "printf '%s\\n' {key}; sleep 1000",
    "wrapped": "printf 'the key that I got from them is %s\\n' {key}; sleep 1000",
    "grep": "grep --color=always ant-api03 {file}; sleep 1000",
    "fold": "fold -w 30 {file}; sleep 1000",
    "box": "exec {python} {box}",
    "less": "exec less {file}",
    "composer": "exec {python} {composer}",
    "base64": "printf '%s\\n' {encoded}; sleep 1000",
}
FOUND = ["printf", "wrapped", "grep", "typed", "fold", "box"]
_ESCAPE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")


def squeezed(data: bytes) -> str:
    """Without escapes, white space and frames."""
    return re.sub(r"[\s│]", "", _ESCAPE.sub(b"", data).decode(errors="replace"))


def derived(data: bytes) -> list[str]:
    """The text that is made of the bytes, as it would be stored."""
    stage = TextDecoder(0)
    lines = [*stage.feed(Delta(EpochId(1), 0, data, 0)).lines, *stage.finish(0).lines]
    return Redactor().redact_lines([line.text for line in lines])


def raw(fleet, pane: int) -> bytes:
    """Everything that is kept of a pane."""
    whole = b""
    for folder in sorted(Path(fleet.visor.paths.raw_dir, str(pane)).iterdir()):
        reader = SegmentReader(str(folder))
        whole += b"".join(data for _, data, _ in reader.read_pieces(0, 1 << 30))
        reader.close()
    return whole


@pytest.fixture(scope="module")
def fleet():
    with run_watched_tmux() as scene:
        scene.tmux.start_session("keep", "sleep 1000")
        yield scene


class Shown:
    """A pane that showed the key in one way and is gone: its bytes before and after a round of upkeep."""

    def __init__(self, fleet, way: str, folder: str):
        tmux = fleet.tmux
        mux_id = tmux.start_session(way, "bash --norc --noprofile" if way == "typed" else "sh", width=60, height=20)
        self.pane = fleet.wait_until_captured(mux_id)
        if way == "typed":
            tmux("send-keys", "-t", mux_id, "-l", "--", f": {KEY}")
        else:
            tmux.type_line(mux_id, f"sh {folder}/{way}")
        tail = (ENCODED if way == "base64" else KEY)[-10:]
        wait_until(lambda: tail in squeezed(tmux("capture-pane", "-p", "-t", mux_id).encode()))
        tmux("kill-session", "-t", f"={way}")
        wait_until(lambda: next(item["gone_at"] for item in self._all(fleet) if item["identity"]["id"] == self.pane))
        self.before = raw(fleet, self.pane)
        wait_until(lambda: self._is_sealed(fleet))
        self.after = raw(fleet, self.pane)

    def _is_sealed(self, fleet) -> bool:
        """Its epoch closes a moment after the pane is gone; then a round of upkeep takes it."""
        fleet.visor.run_checked("db", "prune")
        return not list(Path(fleet.visor.paths.raw_dir, str(self.pane)).rglob("*.raw"))

    def _all(self, fleet) -> list[dict]:
        return fleet.visor.call_robot("state", "--gone")["items"]


@pytest.fixture(scope="module")
def folder():
    with make_short_folder() as path:
        files = {
            "file": f"export MY_KEY={KEY}\n",
            "box.py": f"KEY = {KEY!r}{BOX}",
            "composer.py": f"KEY = {KEY!r}{COMPOSER}",
        }
        for name, text in files.items():
            Path(path, name).write_text(text)
        names = {"file": f"{path}/file", "box": f"{path}/box.py", "composer": f"{path}/composer.py"}
        for way, command in WAYS.items():
            Path(path, way).write_text(command.format(key=KEY, encoded=ENCODED, python=sys.executable, **names))
        yield path


def masked_well(shown: Shown) -> None:
    text = squeezed(shown.after)
    assert len(shown.after) == len(shown.before)
    assert "sk-ant-" in text
    assert not [at for at in range(len(HIDDEN) - 7) if HIDDEN[at : at + 8] in text]
    assert all(new in (old, ord("0")) for new, old in zip(shown.after, shown.before, strict=True))
    assert derived(shown.after) == derived(shown.before)


@pytest.mark.parametrize("way", FOUND)
def test_it_is_overwritten_in_its_place(fleet, folder, way):
    masked_well(Shown(fleet, way, folder))


@pytest.mark.live
def test_it_is_overwritten_where_a_pager_showed_it(fleet, folder):
    masked_well(Shown(fleet, "less", folder))


def test_painted_cell_by_cell_with_a_spinner_between_it_is_missed(fleet, folder):
    """Documented: no row of the bytes holds more than one character of it."""
    shown = Shown(fleet, "composer", folder)
    assert shown.after == shown.before
    assert all(char in shown.after.decode() for char in HIDDEN)


def test_encoded_it_is_missed(fleet, folder):
    """Documented: the bytes do not hold it, only its code."""
    shown = Shown(fleet, "base64", folder)
    assert ENCODED in squeezed(shown.after)
