"""A PTY host as a plain child process, and plain connections to it, for tests that speak its protocol themselves."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import termvisor
from termvisor.pty_host.startup import HostOptions
from termvisor.recorder.sockets import SOCKET_KIND, is_recorder_listening

ROOT = os.path.dirname(os.path.dirname(termvisor.__file__))


@contextmanager
def run_host(folder: str) -> Iterator[str]:
    """Run a host whose recorder never answers; yield the path of its socket."""
    with run_host_with(HostOptions(f"{folder}/pty", f"{folder}/rec", f"{folder}/raw", f"{folder}/results")) as process:
        yield f"{folder}/pty"
        assert process.poll() is None, "the host died"


@contextmanager
def run_host_with(options: HostOptions) -> Iterator[subprocess.Popen]:
    process = subprocess.Popen(options.build_command(sys.executable, ROOT))
    try:
        deadline = time.monotonic() + 20
        while not is_recorder_listening(options.socket):
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.01)
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def connect(path: str, greeting: str) -> Iterator[socket.socket]:
    client = socket.socket(socket.AF_UNIX, SOCKET_KIND)
    client.settimeout(20)
    client.connect(path)
    client.send(greeting.encode())
    try:
        yield client
    finally:
        client.close()
