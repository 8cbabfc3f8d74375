"""Misbehaving clients on the real daemon's socket: other clients are served, and other users are refused."""

import os
import resource
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from tests.bench.pane_cost import read_rss_mb
from tests.live.polling import wait_until

NOBODY = 65534
GARBAGE = os.urandom(1 << 18)
MANY_REQUESTS = b'{"jsonrpc":"2.0","method":"help","id":1}\n' * 20_000
"""Requests with more responses than any buffer holds."""
MAX_GROWTH_MB = 24
INTRUDER_SCRIPT = """
import socket, sys
with socket.socket(socket.AF_UNIX) as one:
    try:
        one.connect(sys.argv[1])
        one.sendall(b'{"jsonrpc":"2.0","method":"health","id":1}\\n')
        print(one.recv(100))
    except OSError as error:
        print(type(error).__name__)
"""


@pytest.fixture
def daemon(visor):
    visor.start()
    return visor


@contextmanager
def connect_raw(visor) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(20)
        connection.connect(visor.paths.daemon_socket)
        yield connection


def read_to_end(connection: socket.socket) -> None:
    """Read until the daemon disconnects."""
    while connection.recv(1 << 16):
        continue


def is_healthy(visor, pid: int, before: float) -> bool:
    """Return True if the same daemon answers and uses little more memory than before."""
    return visor.call_robot("health")["daemon"]["pid"] == pid and read_rss_mb(pid) - before < MAX_GROWTH_MB


def test_garbage_does_not_affect_other_clients(daemon):
    pid = daemon.daemon_pid
    before = read_rss_mb(pid)
    with (
        connect_raw(daemon) as connection,
        suppress(BrokenPipeError, ConnectionResetError),
    ):  # the daemon may disconnect
        connection.sendall(GARBAGE + b"\n")
        connection.shutdown(socket.SHUT_WR)
        read_to_end(connection)
    assert is_healthy(daemon, pid, before)


def test_an_endless_request_line_is_refused_early(daemon):
    pid = daemon.daemon_pid
    before = read_rss_mb(pid)
    with connect_raw(daemon) as connection:
        sent = 0
        with pytest.raises(OSError):
            while sent < 100_000_000:
                sent += connection.send(b"x" * 1_000_000)
        assert sent < 50_000_000
    assert is_healthy(daemon, pid, before)


def test_a_thousand_silent_clients_do_not_block_others(daemon):
    pid = daemon.daemon_pid
    before = read_rss_mb(pid)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    try:
        with ExitStack() as stack:
            for _ in range(1000):
                stack.enter_context(connect_raw(daemon)).sendall(b'{"half a line')
            assert is_healthy(daemon, pid, before)
        wait_until(lambda: len(os.listdir(f"/proc/{pid}/fd")) < 200)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_client_that_never_reads_does_not_block_others(daemon):
    pid = daemon.daemon_pid
    before = read_rss_mb(pid)
    with connect_raw(daemon) as connection:
        connection.setblocking(False)
        sent = 0
        with pytest.raises(BlockingIOError):
            while sent < len(MANY_REQUESTS):
                sent += connection.send(MANY_REQUESTS[sent:])
        assert is_healthy(daemon, pid, before)


@pytest.mark.live
def test_another_user_is_refused_even_if_file_permissions_allow_it(daemon):
    if os.getuid() != 0:
        pytest.fail("This test becomes another user: run it as root, or as `sudo make test-live`.")
    path = Path(daemon.paths.daemon_socket)
    assert connect_as_other_user(path) == "PermissionError"
    path.chmod(0o666)
    for folder in list(path.parents)[:2]:
        folder.chmod(0o755)
    assert connect_as_other_user(path) in ("b''", "ConnectionResetError", "BrokenPipeError")


def connect_as_other_user(path: Path) -> str:
    """Send a request as another user and return the result."""
    become_nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    argv = [*become_nobody, "/usr/bin/env", "python3", "-I", "-c", INTRUDER_SCRIPT, str(path)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, cwd="/")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
