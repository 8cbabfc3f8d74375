import os
import subprocess
from pathlib import Path

from termvisor.backends.tmux.pane_control import WAIT_SCRIPT
from termvisor.daemon.acting.spawn_gate import open_start_gate, release_leftover_gates
from termvisor.system.procfs import read_file
from termvisor.system.retry import wait_until


def start_program(path: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sh", "-c", WAIT_SCRIPT, "sh", path, "echo", "started"], stdout=subprocess.PIPE)


def is_waiting(process: subprocess.Popen[bytes], channel: bytes) -> bool:
    """Return True if the kernel holds the process in a function of this name."""
    return wait_until(lambda: channel in read_file(f"/proc/{process.pid}/wchan"), 10.0)


def test_a_program_starts_when_the_gate_is_closed(tmp_path: Path) -> None:
    with open_start_gate(str(tmp_path)) as path:
        process = start_program(path)
        assert is_waiting(process, b"pipe_read")
        assert os.stat(path).st_mode & 0o777 == 0o600
    assert process.communicate()[0] == b"started\n"
    assert list(tmp_path.iterdir()) == []


def test_a_program_that_comes_late_starts_at_once(tmp_path: Path) -> None:
    assert start_program(str(tmp_path / "gone")).communicate()[0] == b"started\n"


def test_a_gate_that_a_killed_daemon_left_is_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "start-1", 0o600)
    process = start_program(str(tmp_path / "start-1"))
    assert is_waiting(process, b"wait_for_partner")
    release_leftover_gates(str(tmp_path))
    assert process.communicate()[0] == b"started\n"
    assert list(tmp_path.iterdir()) == []
