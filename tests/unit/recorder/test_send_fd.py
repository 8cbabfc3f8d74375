"""The script that passes a pipe to the recorder."""

import signal
import socket
import subprocess
import sys

import pytest

from termvisor.recorder import send_fd


def run(path: str, name: str, pipe: socket.socket) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-ISE", send_fd.__file__, path, name]
    return subprocess.run(command, stdin=pipe.fileno(), capture_output=True, check=False)


@pytest.fixture
def pair():
    ours, theirs = socket.socketpair()
    yield ours, theirs
    ours.close()
    theirs.close()


def test_output_after_the_hand_off_is_recorded(home, pair):
    ours, theirs = pair
    home.start()
    listener = home.connect_daemon()
    done = run(home.socket, "1/2", theirs)
    theirs.close()
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    ours.sendall(b"later")
    ours.close()
    listener.read_until("ended 1/2 5")
    assert home.read_content("1/2") == b"later"


def test_a_refusal_is_a_quiet_failure(home, pair):
    home.start()
    done = run(home.socket, "not/numbers", pair[1])
    assert (done.returncode, done.stdout + done.stderr) == (1, b"")


def test_a_missing_recorder_is_a_quiet_failure(home, pair):
    done = run(home.socket, "1/2", pair[1])
    assert (done.returncode, done.stdout + done.stderr) == (1, b"")


def test_a_stopped_recorder_is_a_quiet_failure_and_gets_the_stream_when_it_goes_on(home, pair, monkeypatch, capsys):
    ours, theirs = pair
    process = home.start()
    listener = home.connect_daemon()
    listener.read_until("ready")
    process.send_signal(signal.SIGSTOP)
    monkeypatch.setattr(send_fd, "_TIMEOUT_S", 0.05)
    monkeypatch.setattr(send_fd, "STDIN_FD", theirs.fileno())
    monkeypatch.setattr(sys, "argv", ["handoff", home.socket, "1/2"])
    assert send_fd.main() == 1
    process.send_signal(signal.SIGCONT)
    listener.read_until("held 1/2")
    ours.sendall(b"x")
    listener.read_until("grew 2 1")
    assert capsys.readouterr().out == ""
