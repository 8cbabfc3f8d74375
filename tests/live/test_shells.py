"""Real shells with complex prompts: stored lines equal the visible lines, and marks report the activity.

A mark without the nonce is unproven.
"""

import shutil
from pathlib import Path

import pytest

from tests.live.conftest import run_watched_tmux
from tests.live.polling import wait_until
from tests.live.shell_prompts import SHELLS

pytestmark = pytest.mark.live
FORGED_MARKS = b"".join(
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


class ShellTerminal:
    """A pane with a shell, captured from its first byte."""

    def __init__(self, scene, mux_id: str, home: Path):
        self._scene, self._mux_id = scene, mux_id
        self.pane_id = scene.wait_until_captured(mux_id)
        (home / "go").touch()
        wait_until(lambda: self.text["pending"].startswith("left>"))

    @property
    def text(self) -> dict:
        return self._scene.visor.call_robot("get-text", str(self.pane_id), "--tail", "500")

    @property
    def lines(self) -> list[str]:
        """The lines that are not blank: zsh leaves a blank row in the history of a new pane."""
        return [line for line in self.text["text"].split("\n") if line]

    @property
    def rows(self) -> list[str]:
        """The visible rows above the line that is being typed."""
        rows = self._scene.visor.call_robot("get-screen", str(self.pane_id))["rows"]
        return [row for row in rows if row][:-1]

    @property
    def activity(self) -> dict:
        return next(item["activity"] for item in self._scene.list_panes() if item["identity"]["id"] == self.pane_id)

    def type(self, text: str) -> None:
        self._scene.tmux.type_line(self._mux_id, text)

    def press_keys(self, *keys: str) -> None:
        self._scene.tmux("send-keys", "-t", self._mux_id, *keys)

    def wait_for(self, text: str) -> None:
        self._scene.visor.call_robot("wait-for", str(self.pane_id), f"^{text}$", "--regex", "--timeout-secs", "20")

    def is_at_prompt(self, last_exit: int, *, is_proven: bool) -> bool:
        now = self.activity
        return (now["kind"], now["last_exit"], now["is_proven"]) == ("prompt", last_exit, is_proven)


@pytest.fixture
def open_shell(fleet, shell, request):
    """Return a function that opens a pane with the shell under test."""

    def open_terminal(folder: Path, **set_up) -> ShellTerminal:
        name = f"{shell}-{request.node.originalname}"[:60]
        return ShellTerminal(
            fleet, fleet.tmux.start_session(name, shell.build_command(folder, **set_up), width=70), folder
        )

    return open_terminal


def test_stored_lines_equal_the_screen_of_the_shell(fleet, open_shell, tmp_path):
    long = f"long-word {'wrapped ' * 20}end"
    (tmp_path / "output").write_text(f"{long}\nhalf\rHALF\n\033[31mred\033[0m\tend\n")
    terminal_pane = open_shell(tmp_path)
    terminal_pane.type("echo first''-word")
    terminal_pane.wait_for("first-word")
    terminal_pane.type("cat output")
    terminal_pane.wait_for("red     end")
    wait_until(lambda: terminal_pane.text["pending"].startswith("left>"))
    assert terminal_pane.lines == terminal_pane.rows
    assert {"upper row", "first-word", "HALF", long} <= set(terminal_pane.lines)
    hits = fleet.visor.call_robot("search", '"first word"', "--pane", str(terminal_pane.pane_id))["items"]
    assert "first-word" in [hit["text"] for hit in hits]


def test_output_without_a_final_newline_is_stored(fleet, open_shell, tmp_path):
    terminal_pane = open_shell(tmp_path)
    terminal_pane.type("printf unended''-word")
    wait_until(lambda: sum(line.endswith("upper row") for line in terminal_pane.lines) == 2)
    hits = fleet.visor.call_robot("search", "unended", "--pane", str(terminal_pane.pane_id))["items"]
    assert [hit["text"] for hit in hits if hit["text"].startswith("unended-word")]


def test_an_edited_command_line_is_stored_as_submitted(open_shell, tmp_path):
    terminal_pane = open_shell(tmp_path)
    terminal_pane.press_keys("-l", "echo wrong-end")
    terminal_pane.press_keys("BSpace", "BSpace", "BSpace")
    terminal_pane.press_keys("-l", "word")
    terminal_pane.press_keys("C-a", "C-d", "C-d", "C-d", "C-d")
    terminal_pane.press_keys("-l", "echo right")
    terminal_pane.press_keys("C-e")
    terminal_pane.press_keys("-l", " spoken")
    terminal_pane.press_keys("Left", "Left", "C-k")
    terminal_pane.press_keys("-l", "en")
    terminal_pane.press_keys("Enter")
    terminal_pane.wait_for("right wrong-word spoken")
    wait_until(lambda: terminal_pane.text["pending"].startswith("left>"))
    typed = [line for line in terminal_pane.lines if line.startswith("left>")]
    assert [line.removesuffix("right").rstrip() for line in typed] == ["left> echo right wrong-word spoken"]
    assert terminal_pane.lines == terminal_pane.rows


def test_marks_with_the_nonce_prove_the_shell_activity(open_shell, tmp_path, nonce):
    terminal_pane = open_shell(tmp_path, marks=True, nonce=nonce)
    wait_until(lambda: terminal_pane.activity["kind"] == "prompt" and terminal_pane.activity["is_proven"])
    terminal_pane.type("sh -c 'exit 3'")
    wait_until(lambda: terminal_pane.is_at_prompt(3, is_proven=True))
    terminal_pane.type("echo now''-running; sleep 1000")
    terminal_pane.wait_for("now-running")
    assert (terminal_pane.activity["kind"], terminal_pane.activity["is_proven"]) == ("command", True)
    terminal_pane.press_keys("C-c")
    wait_until(lambda: terminal_pane.is_at_prompt(130, is_proven=True))


def test_marks_without_a_nonce_are_unproven(open_shell, tmp_path):
    terminal_pane = open_shell(tmp_path, marks=True)
    terminal_pane.type("sh -c 'exit 3'")
    wait_until(lambda: terminal_pane.is_at_prompt(3, is_proven=False))


def test_forged_marks_in_a_file_do_not_change_the_activity(open_shell, tmp_path, nonce):
    (tmp_path / "evil").write_bytes(FORGED_MARKS + b"evil-was-shown\r\n")
    terminal_pane = open_shell(tmp_path, marks=True, nonce=nonce)
    terminal_pane.type(f"cat {tmp_path}/evil; sleep 1000")
    terminal_pane.wait_for("evil-was-shown")
    assert (terminal_pane.activity["kind"], terminal_pane.activity["is_proven"]) == ("command", True)
    terminal_pane.press_keys("C-c")
    wait_until(lambda: terminal_pane.is_at_prompt(130, is_proven=True))
