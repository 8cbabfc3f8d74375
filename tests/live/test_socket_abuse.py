"""The real daemon's socket in bad company: whoever behaves is answered all the same, and nobody else gets in."""

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
ASKS_MUCH = b'{"jsonrpc":"2.0","method":"help","id":1}\n' * 20_000
"""More answers than any buffer holds."""
ROOM_MB = 24
INTRUDER = """
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
def plugged(visor) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as one:
        one.settimeout(20)
        one.connect(visor.paths.daemon_socket)
        yield one


def hear_out(one: socket.socket) -> None:
    """Until the daemon hangs up."""
    while one.recv(1 << 16):
        continue


def is_well(visor, pid: int, before: float) -> bool:
    """The same daemon answers others, and holds little more than before."""
    return visor.call_robot("health")["daemon"]["pid"] == pid and read_rss_mb(pid) - before < ROOM_MB


def test_garbage_disturbs_nobody(daemon):
    pid = daemon.daemon_pid
    before = read_rss_mb(pid)
    with plugged(daemon) as one, suppress(BrokenPipeError, ConnectionResetError):  # it may well hang up
        one.sendall(GARBAGE + b"\n")
        one.shutdown(socket.SHUT_WR)
        hear_out(one)
    assert is_well(daemon, pid, before)


def test_a_line_of_a_hundred_megabytes_is_cut_short(daemon):
    pid = daemon.daemon_pid
    before = read_rss_mb(pid)
    with plugged(daemon) as one:
        sent = 0
        with pytest.raises(OSError):
            while sent < 100_000_000:
                sent += one.send(b"x" * 1_000_000)
        assert sent < 50_000_000
    assert is_well(daemon, pid, before)


def test_a_thousand_silent_clients_keep_nobody_out(daemon):
    pid = daemon.daemon_pid
    before = read_rss_mb(pid)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    try:
        with ExitStack() as held:
            for _ in range(1000):
                held.enter_context(plugged(daemon)).sendall(b'{"half a line')
            assert is_well(daemon, pid, before)
        wait_until(lambda: len(os.listdir(f"/proc/{pid}/fd")) < 200)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_client_that_never_reads_its_answers_holds_up_nobody(daemon):
    pid = daemon.daemon_pid
    before = read_rss_mb(pid)
    with plugged(daemon) as one:
        one.setblocking(False)
        sent = 0
        with pytest.raises(BlockingIOError):
            while sent < len(ASKS_MUCH):
                sent += one.send(ASKS_MUCH[sent:])
        assert is_well(daemon, pid, before)


@pytest.mark.live
def test_another_user_is_not_heard_even_where_the_file_lets_him_in(daemon):
    if os.getuid() != 0:
        pytest.fail("This test becomes another user: run it as root, or as `sudo make test-live`.")
    path = Path(daemon.paths.daemon_socket)
    assert intruder(path) == "PermissionError"
    path.chmod(0o666)
    for folder in list(path.parents)[:2]:
        folder.chmod(0o755)
    assert intruder(path) in ("b''", "ConnectionResetError", "BrokenPipeError")


def intruder(path: Path) -> str:
    """What another user hears who asks how the daemon is."""
    who = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    argv = [*who, "/usr/bin/env", "python3", "-I", "-c", INTRUDER, str(path)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, cwd="/")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
