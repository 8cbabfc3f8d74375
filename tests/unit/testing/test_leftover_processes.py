"""Processes of a test end with its folder, even if detached and however the test ends."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from termvisor.system.retry import wait_until
from termvisor.testing.leftover_processes import belongs_to_folder, kill_processes_of, list_processes
from termvisor.testing.private_tmux import make_short_folder, run_private_tmux

HIDING = """
import os, signal, sys
for name in ("SIGHUP", "SIGTERM"):
    signal.signal(getattr(signal, name), signal.SIG_IGN)
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
with open(sys.argv[1] + ".part", "w") as file:
    file.write(str(os.getpid()))
os.rename(sys.argv[1] + ".part", sys.argv[1])
signal.pause()
"""
"""A process in its own session, without a parent, that ignores terminal signals."""


def build_hiding_command(file: str) -> list[str]:
    return [sys.executable, "-c", HIDING, file]


def read_pid(file: str) -> int:
    """Wait for the pid of the hidden process and return it."""
    assert wait_until(lambda: os.path.exists(file), 20)
    pid = int(Path(file).read_text())
    assert is_running(pid)
    return pid


def is_running(pid: int) -> bool:
    """Return True if the process runs; a zombie has no command line."""
    return os.path.exists(f"/proc/{pid}") and bool(Path(f"/proc/{pid}/cmdline").read_bytes())


@contextmanager
def failing() -> Iterator[None]:
    with pytest.raises(ZeroDivisionError):
        yield


def test_a_process_hidden_from_its_tmux_ends_with_the_folder(tmp_path: Path) -> None:
    with make_short_folder() as folder:
        with run_private_tmux(folder) as tmux:
            tmux.start_session(command=shlex.join(build_hiding_command(f"{tmp_path}/pid")))
            pid = read_pid(f"{tmp_path}/pid")
        assert is_running(pid)
        assert pid in list_processes(folder)
    assert not is_running(pid)
    assert not os.path.exists(folder)


def test_a_hidden_process_ends_if_the_test_fails(tmp_path: Path) -> None:
    with failing(), make_short_folder() as folder:
        subprocess.run(
            build_hiding_command(f"{tmp_path}/pid"), env={**os.environ, "HOME": f"{folder}/home"}, check=True
        )
        pid = read_pid(f"{tmp_path}/pid")
        raise ZeroDivisionError
    assert not is_running(pid)


def test_a_hidden_process_ends_if_the_test_process_is_killed(tmp_path: Path) -> None:
    killed = (
        "import os, sys, time\n"
        "from termvisor.testing.private_tmux import make_short_folder, run_private_tmux\n"
        "with make_short_folder() as folder, run_private_tmux(folder) as tmux:\n"
        "    tmux.start_session(command=sys.argv[1])\n"
        "    print(folder, tmux('display-message', '-p', '#{pid}'), flush=True)\n"
        "    time.sleep(1000)\n"
    )
    command = f"{shlex.join(build_hiding_command(f'{tmp_path}/pid'))}; exec sleep 1000"
    with subprocess.Popen([sys.executable, "-c", killed, command], stdout=subprocess.PIPE, text=True) as one:
        assert one.stdout
        folder, server = one.stdout.readline().split()
        pid = read_pid(f"{tmp_path}/pid")
        one.send_signal(signal.SIGKILL)
    assert wait_until(lambda: not os.path.exists(folder), 20)
    assert (is_running(pid), is_running(int(server))) == (False, False)


def test_other_processes_are_not_killed(tmp_path: Path) -> None:
    near = {"HOME": f"{tmp_path}/one-more", "WORDS": f"see {tmp_path}/one/", "OLDPWD": str(tmp_path)}
    with subprocess.Popen(["sleep", "1000"], env={**os.environ, **near}) as other:
        assert not belongs_to_folder(other.pid, f"{tmp_path}/one")
        kill_processes_of(f"{tmp_path}/one")
        assert other.poll() is None
        kill_processes_of(f"{tmp_path}/one-more")
        assert other.wait() == -signal.SIGKILL
