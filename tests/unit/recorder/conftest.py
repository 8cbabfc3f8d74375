"""Fixtures: a real recorder in a private folder, a fake daemon that reads its reports, and pipes."""

import hashlib
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

import termvisor
from termvisor.recorder.segment_log import SegmentReader
from termvisor.recorder.startup import RecorderOptions

ROOT = os.path.dirname(os.path.dirname(termvisor.__file__))


class DaemonDouble:
    """A fake daemon: reads and writes lines on the recorder's socket."""

    def __init__(self, path: str, greeting: str = "listen 1"):
        self.connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.connection.settimeout(20)
        self.connection.connect(path)
        self.send_line(greeting)
        self._lines: list[str] = []

    def send_line(self, line: str) -> None:
        self.connection.send(line.encode() + b"\n")

    def read_line(self) -> str:
        """Return the next line, or an empty one when the recorder closed the connection."""
        if not self._lines:
            with suppress(ConnectionResetError):
                self._lines = self.connection.recv(8192).decode().splitlines()
        return self._lines.pop(0) if self._lines else ""

    def read_until(self, start: str) -> list[str]:
        """Return all lines up to the first with this start, inclusive."""
        lines = [self.read_line()]
        while not lines[-1].startswith(start):
            assert lines[-1], f"hung up before {start!r}: {lines}"
            lines.append(self.read_line())
        return lines

    def read_rest(self) -> list[str]:
        """Return all lines until the recorder closes the connection."""
        return list(iter(self.read_line, ""))

    def close(self) -> None:
        self.connection.close()


class PipeFeeder:
    """Writes ``size`` random bytes into a pipe from a thread, in chunks of all sizes, then closes it."""

    def __init__(self, pipe: socket.socket, size: int, seed: int = 0):
        self._pipe, self._size = pipe, size
        self._random = random.Random(seed)
        self._digest = hashlib.sha256()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        left = self._size
        while left:
            data = self._random.randbytes(min(left, self._random.choice((1, 100, 3000, 70_000))))
            self._digest.update(data)
            self._pipe.sendall(data)
            left -= len(data)
        self._pipe.close()

    def wait_sha256(self) -> str:
        """Wait until all is written and return the hash."""
        self._thread.join()
        return self._digest.hexdigest()


class RecorderSandbox:
    """The folder of one recorder; processes started here are ended with the test."""

    def __init__(self, path: str):
        self.path = path
        self.socket = f"{path}/rec"
        self.raw_dir = f"{path}/raw"
        self._cleanups: list[Callable[[], object]] = []

    def start(self, segment_bytes: int = 1 << 20, cap_bytes: int = 2 << 30) -> subprocess.Popen[bytes]:
        process = self.start_process(segment_bytes, cap_bytes)
        while not self.is_running():
            assert process.poll() is None, "the recorder ended at once"
        return process

    def is_running(self) -> bool:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as probe:
            return probe.connect_ex(self.socket) == 0

    def start_process(self, segment_bytes: int = 1 << 20, cap_bytes: int = 2 << 30) -> subprocess.Popen[bytes]:
        command = RecorderOptions(self.socket, self.raw_dir, segment_bytes, cap_bytes).build_command(
            sys.executable, ROOT
        )
        process = subprocess.Popen(command)
        self._cleanups += [process.wait, process.kill]
        return process

    def connect_daemon(self, greeting: str = "listen 1") -> DaemonDouble:
        listener = DaemonDouble(self.socket, greeting)
        self._cleanups.append(listener.close)
        return listener

    def send_message(self, message: bytes, fds: list[int]) -> str:
        """Return the answer to a message with descriptors, or an empty one if the connection closes."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
            connection.settimeout(20)
            connection.connect(self.socket)
            socket.send_fds(connection, [message], fds)
            return connection.recv(100).decode().strip()

    def open_pipe(self, name: str) -> socket.socket:
        """Open a stream and return its writing end."""
        writer, reader = socket.socketpair()
        self._cleanups.append(writer.close)
        with reader:
            assert self.send_message(f"hold {name}".encode(), [reader.fileno()]) == "ok"
        return writer

    def feed(self, name: str, size: int, seed: int = 0) -> PipeFeeder:
        return PipeFeeder(self.open_pipe(name), size, seed)

    def open_reader(self, name: str) -> SegmentReader:
        reader = SegmentReader(f"{self.raw_dir}/{name}")
        self._cleanups.append(reader.close)
        return reader

    def read_content(self, name: str) -> bytes:
        return b"".join(data for _, data, _ in self.open_reader(name).read_pieces(0, 1 << 40))

    def compute_sha256(self, name: str) -> str:
        return hashlib.sha256(self.read_content(name)).hexdigest()

    def close(self) -> None:
        while self._cleanups:
            self._cleanups.pop()()
        shutil.rmtree(self.path)


@pytest.fixture
def home() -> Iterator[RecorderSandbox]:
    # Not tmp_path: a socket's path may have 107 bytes.
    place = RecorderSandbox(tempfile.mkdtemp(prefix="tv"))
    yield place
    place.close()
