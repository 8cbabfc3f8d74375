"""The shells people use, with difficult prompts: what they print becomes the lines a person sees, and their marks tell
what they do; a mark without our nonce proves nothing.
"""

import shutil
from pathlib import Path

import pytest

from tests.live.conftest import run_watched_tmux
from tests.live.polling import wait_until
from tests.live.shell_prompts import SHELLS

pytestmark = pytest.mark.live
EVIL = b"".join(
    b"\x1b]133;%s\x07\x1b]633;%s\x07" % (mark, mark) for mark in (b"D;0", b"A", b"B", b"D;0;nonce=beef", b"A;")
)


@pytest.fixture(scope="module")
def fleet():
    with run_watched_tmux() as scene:
        scene.tmux.start_session("keep", "sleep 1000")
        scene.list_panes()
        yield scene


@pytest.fixture(scope="module")
def nonce(fleet) -> str:
    return Path(fleet.visor.paths.nonce_file).read_text().strip()


@pytest.fixture(params=SHELLS, ids=str)
def shell(request):
    if shutil.which(request.param.name) is None:
        pytest.fail(f"{request.param} is missing. Install it with: .ci/setup live")
    return request.param


class Terminal:
    """A pane with a shell in it, heard from its first byte on, and a person before it."""

    def __init__(self, scene, mux_id: str, home: Path):
        self._scene, self._mux_id = scene, mux_id
        self.ours = scene.wait_until_captured(mux_id)
        (home / "go").touch()
        wait_until(lambda: self.text["pending"].startswith("left>"))

    @property
    def text(self) -> dict:
        return self._scene.visor.call_robot("get-text", str(self.ours), "--tail", "500")

    @property
    def lines(self) -> list[str]:
        return self.text["text"].split("\n")

    @property
    def rows(self) -> list[str]:
        """What a person sees above the line that is being typed."""
        rows = self._scene.visor.call_robot("get-screen", str(self.ours))["rows"]
        return [row for row in rows if row][:-1]

    @property
    def activity(self) -> dict:
        return next(item["activity"] for item in self._scene.list_panes() if item["identity"]["id"] == self.ours)

    def type(self, text: str) -> None:
        self._scene.tmux.type_line(self._mux_id, text)

    def press(self, *keys: str) -> None:
        self._scene.tmux("send-keys", "-t", self._mux_id, *keys)

    def wait_for(self, text: str) -> None:
        self._scene.visor.call_robot("wait-for", str(self.ours), f"^{text}$", "--regex", "--timeout-secs", "20")

    def is_at_prompt(self, last_exit: int, *, is_proven: bool) -> bool:
        now = self.activity
        return (now["kind"], now["last_exit"], now["is_proven"]) == ("prompt", last_exit, is_proven)


@pytest.fixture
def terminal(fleet, shell, request):
    """Opens a pane with the shell under test."""

    def opened(folder: Path, **set_up) -> Terminal:
        name = f"{shell}-{request.node.originalname}"[:60]
        return Terminal(fleet, fleet.tmux.start_session(name, shell.build_command(folder, **set_up), width=70), folder)

    return opened


def test_what_a_shell_shows_is_what_is_stored(fleet, terminal, tmp_path):
    long = f"long-word {'wrapped ' * 20}end"
    (tmp_path / "output").write_text(f"{long}\nhalf\rHALF\n\033[31mred\033[0m\tend\n")
    one = terminal(tmp_path)
    one.type("echo first''-word")
    one.wait_for("first-word")
    one.type("cat output")
    one.wait_for("red     end")
    wait_until(lambda: one.text["pending"].startswith("left>"))
    assert one.lines == one.rows
    assert {"upper row", "first-word", "HALF", long} <= set(one.lines)
    hits = fleet.visor.call_robot("search", '"first word"', "--pane", str(one.ours))["items"]
    assert "first-word" in [hit["text"] for hit in hits]


def test_output_without_a_last_newline_is_kept(fleet, terminal, tmp_path):
    one = terminal(tmp_path)
    one.type("printf unended''-word")
    wait_until(lambda: sum(line.endswith("upper row") for line in one.lines) == 2)
    hits = fleet.visor.call_robot("search", "unended", "--pane", str(one.ours))["items"]
    assert [hit["text"] for hit in hits if hit["text"].startswith("unended-word")]


def test_a_line_that_was_edited_while_it_was_typed_is_stored_as_it_was_sent(terminal, tmp_path):
    one = terminal(tmp_path)
    one.press("-l", "echo wrong-end")
    one.press("BSpace", "BSpace", "BSpace")
    one.press("-l", "word")
    one.press("C-a", "C-d", "C-d", "C-d", "C-d")
    one.press("-l", "echo right")
    one.press("C-e")
    one.press("-l", " spoken")
    one.press("Left", "Left", "C-k")
    one.press("-l", "en")
    one.press("Enter")
    one.wait_for("right wrong-word spoken")
    wait_until(lambda: one.text["pending"].startswith("left>"))
    typed = [line for line in one.lines if line.startswith("left>")]
    assert [line.removesuffix("right").rstrip() for line in typed] == ["left> echo right wrong-word spoken"]
    assert one.lines == one.rows


def test_marks_with_our_nonce_prove_what_the_shell_does(terminal, tmp_path, nonce):
    one = terminal(tmp_path, marks=True, nonce=nonce)
    wait_until(lambda: one.activity["kind"] == "prompt" and one.activity["is_proven"])
    one.type("sh -c 'exit 3'")
    wait_until(lambda: one.is_at_prompt(3, is_proven=True))
    one.type("echo now''-running; sleep 1000")
    one.wait_for("now-running")
    assert (one.activity["kind"], one.activity["is_proven"]) == ("command", True)
    one.press("C-c")
    wait_until(lambda: one.is_at_prompt(130, is_proven=True))


def test_marks_without_a_nonce_are_heard_but_prove_nothing(terminal, tmp_path):
    one = terminal(tmp_path, marks=True)
    one.type("sh -c 'exit 3'")
    wait_until(lambda: one.is_at_prompt(3, is_proven=False))


def test_marks_in_a_hostile_file_are_not_believed(terminal, tmp_path, nonce):
    (tmp_path / "evil").write_bytes(EVIL + b"evil-was-shown\r\n")
    one = terminal(tmp_path, marks=True, nonce=nonce)
    one.type(f"cat {tmp_path}/evil; sleep 1000")
    one.wait_for("evil-was-shown")
    assert (one.activity["kind"], one.activity["is_proven"]) == ("command", True)
    one.press("C-c")
    wait_until(lambda: one.is_at_prompt(130, is_proven=True))
