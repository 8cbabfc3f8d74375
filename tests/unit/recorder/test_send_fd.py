"""The script that passes a pipe to the recorder."""

import signal
import socket
import subprocess
import sys

import pytest

from termvisor.recorder import send_fd


def run_script(path: str, name: str, pipe: socket.socket) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-ISE", send_fd.__file__, path, name]
    return subprocess.run(command, stdin=pipe.fileno(), capture_output=True, check=False)


@pytest.fixture
def pair():
    writer, reader = socket.socketpair()
    yield writer, reader
    writer.close()
    reader.close()


def test_output_after_the_hand_off_is_recorded(home, pair):
    writer, reader = pair
    home.start()
    listener = home.connect_daemon()
    done = run_script(home.socket, "1/2", reader)
    reader.close()
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    writer.sendall(b"later")
    writer.close()
    listener.read_until("ended 1/2 5")
    assert home.read_content("1/2") == b"later"


def test_a_refused_stream_fails_without_output(home, pair):
    home.start()
    done = run_script(home.socket, "not/numbers", pair[1])
    assert (done.returncode, done.stdout + done.stderr) == (1, b"")


def test_a_missing_recorder_fails_without_output(home, pair):
    done = run_script(home.socket, "1/2", pair[1])
    assert (done.returncode, done.stdout + done.stderr) == (1, b"")


def test_a_stopped_recorder_fails_without_output_and_gets_the_stream_later(home, pair, monkeypatch, capsys):
    writer, reader = pair
    process = home.start()
    listener = home.connect_daemon()
    listener.read_until("ready")
    process.send_signal(signal.SIGSTOP)
    monkeypatch.setattr(send_fd, "_TIMEOUT_S", 0.05)
    monkeypatch.setattr(send_fd, "STDIN_FD", reader.fileno())
    monkeypatch.setattr(sys, "argv", ["handoff", home.socket, "1/2"])
    assert send_fd.main() == 1
    process.send_signal(signal.SIGCONT)
    listener.read_until("held 1/2")
    writer.sendall(b"x")
    listener.read_until("grew 2 1")
    assert capsys.readouterr().out == ""
