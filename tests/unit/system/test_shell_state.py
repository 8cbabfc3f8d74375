import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from termvisor.system import procfs
from termvisor.system.shell_state import is_state_missing, read_shell_state, remove_stale_states
from termvisor.system.tty import find_terminal, is_line_editor_active
from tests.unit.terminal_process import NONCE, TerminalProcess


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[TerminalProcess]:
    opened = TerminalProcess(tmp_path)
    yield opened
    opened.kill()


def test_the_record_of_a_shell_at_its_prompt_is_read(terminal: TerminalProcess) -> None:
    terminal.write_record()
    assert terminal.read() == ("prompt", 3, "/home/me")
    state = read_shell_state(str(terminal.folder), NONCE, terminal.pid)
    assert state is not None
    assert (state.shell, state.prompt_chars) == (str(terminal.pid), 6)
    assert state.at == terminal.file.stat().st_mtime_ns


@pytest.mark.parametrize(
    ("rest", "found"),
    [
        ("prompt - - /", ("prompt", None, "/")),
        ("prompt 0 column=12 /with blanks and ü", ("prompt", 0, "/with blanks and ü")),
        ("prompt 0 read=1 -", ("prompt", 0, None)),
        ("prompt 0 - /short\nger", ("prompt", 0, "/short")),
        ("prompt 0 - /a\x1b]0;x\x07", ("prompt", 0, None)),
        ("prompt 0 - relative", None),
        ("prompt 1000 - /", None),
        ("prompt 0 chars=-1 /", None),
        ("waiting 0 - /", None),
        ("prompt 0 -", None),
        ("", None),
    ],
)
def test_only_a_complete_record_counts(terminal: TerminalProcess, rest: str, found: object) -> None:
    terminal.write_record(rest)
    assert terminal.read() == found


def test_a_record_that_is_being_written_does_not_count(terminal: TerminalProcess) -> None:
    terminal.write_record()
    terminal.file.write_bytes(terminal.file.read_bytes()[:-1])
    assert terminal.read() is None
    terminal.file.write_bytes(b"")
    assert terminal.read() is None


def test_the_terminal_must_agree_with_the_record(terminal: TerminalProcess) -> None:
    terminal.write_record("command 0 - /")
    assert terminal.read() is None
    terminal.set_canonical(True)
    assert terminal.read() == ("command", 0, "/")
    terminal.write_record("prompt 0 - /")
    assert terminal.read() is None


def test_input_is_empty_only_while_the_shell_has_read_nothing_more(terminal: TerminalProcess) -> None:
    count = procfs.count_read_bytes(terminal.pid)
    assert count is not None
    for value, is_empty in ((count, True), (count - 1, False)):
        terminal.write_record(f"prompt 0 read={value} /")
        state = read_shell_state(str(terminal.folder), NONCE, terminal.pid)
        assert state is not None
        assert state.is_input_empty == is_empty


def replace_by_link(terminal: TerminalProcess) -> None:
    terminal.file.rename(terminal.folder / "elsewhere")
    terminal.file.symlink_to(terminal.folder / "elsewhere")


def replace_by_fifo(terminal: TerminalProcess) -> None:
    terminal.file.unlink()
    os.mkfifo(terminal.file, 0o600)


def replace_by_folder(terminal: TerminalProcess) -> None:
    terminal.file.unlink()
    terminal.file.mkdir(mode=0o700)


def make_huge(terminal: TerminalProcess) -> None:
    terminal.write_record(f"prompt 0 - /{'x' * 100_000}")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda terminal: terminal.file.unlink(),
        lambda terminal: terminal.file.chmod(0o644),
        lambda terminal: os.link(terminal.file, terminal.folder / "second"),
        lambda terminal: terminal.write_record(nonce="f" * 32),
        lambda terminal: terminal.write_record(started=terminal.started - 1),
        replace_by_link,
        replace_by_fifo,
        replace_by_folder,
        make_huge,
    ],
    ids=["missing", "readable", "linked", "nonce", "reused-pid", "symlink", "fifo", "folder", "huge"],
)
def test_a_file_that_is_not_surely_the_shells_own_does_not_count(
    terminal: TerminalProcess, spoil: Callable[[TerminalProcess], None]
) -> None:
    terminal.write_record()
    assert terminal.read() is not None
    spoil(terminal)
    assert terminal.read() is None


def test_a_file_of_another_user_does_not_count(terminal: TerminalProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal.write_record()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert terminal.read() is None


def test_a_record_of_a_shell_in_another_terminal_does_not_count(terminal: TerminalProcess, tmp_path: Path) -> None:
    other = TerminalProcess(tmp_path)
    terminal.write_record()
    assert read_shell_state(str(tmp_path), NONCE, other.pid) is None
    other.kill()
    assert read_shell_state(str(tmp_path), NONCE, other.pid) is None


def test_files_of_exited_shells_are_removed(terminal: TerminalProcess, tmp_path: Path) -> None:
    exited = TerminalProcess(tmp_path)
    exited.write_record()
    exited.kill()
    (tmp_path / "strange").touch()
    terminal.file.touch()
    assert remove_stale_states(str(tmp_path)) == 2
    terminal.write_record()
    assert remove_stale_states(str(tmp_path)) == 0
    terminal.write_record(started=terminal.started + 1)
    assert remove_stale_states(str(tmp_path)) == 1
    assert list(tmp_path.iterdir()) == []
    assert remove_stale_states(str(tmp_path / "missing")) == 0


def test_a_line_editor_switches_canonical_mode_off(terminal: TerminalProcess) -> None:
    tty = find_terminal(terminal.pid)
    assert is_line_editor_active(tty)
    terminal.set_canonical(True)
    assert not is_line_editor_active(tty)
    assert not is_line_editor_active("/nowhere")


def test_a_shell_without_a_file_is_noticed(terminal: TerminalProcess) -> None:
    assert is_state_missing(str(terminal.folder), terminal.pid)
    terminal.file.touch()
    assert not is_state_missing(str(terminal.folder), terminal.pid)
    assert not is_state_missing(str(terminal.folder), 0)
