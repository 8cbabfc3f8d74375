"""Start times, children and ancestors of real processes."""

import asyncio
import os
import signal
import subprocess
import sys

import pytest

from termvisor.clock import NS, SystemClock
from termvisor.system import process_lifetime, procfs
from termvisor.system.process_lifetime import ProcessExitWatcher, compute_start_instant
from termvisor.system.procfs import count_children, read_process, read_start_time
from tests.unit.wait_until import wait_until


def test_a_process_has_one_start_as_long_as_it_lives():
    assert read_start_time(os.getpid()) == read_start_time(os.getpid()) > 0


def test_a_child_starts_no_earlier_than_its_parent():
    with subprocess.Popen(["sleep", "100"]) as child:
        assert read_start_time(child.pid) >= read_start_time(os.getpid())
        child.kill()


async def test_a_process_that_ended_has_no_start_even_before_it_is_reaped():
    child = subprocess.Popen(["true"])
    await wait_until(lambda: read_start_time(child.pid) == 0)
    child.wait()
    assert read_start_time(child.pid) == 0


def test_a_process_name_with_parentheses_is_parsed(tmp_path):
    odd = tmp_path / "a) Z (b"
    odd.symlink_to("/bin/sleep")
    with subprocess.Popen([str(odd), "100"]) as child:
        assert read_start_time(child.pid) > 0
        child.kill()


async def test_running_children_of_a_process_are_counted():
    with subprocess.Popen(
        ["sh", "-c", "sleep 100 & echo begun; wait; exec sleep 100"], stdout=subprocess.PIPE
    ) as shell:
        assert shell.stdout.readline() == b"begun\n"
        assert count_children(shell.pid) == 1
        with open(f"/proc/{shell.pid}/task/{shell.pid}/children") as file:
            os.kill(int(file.read()), 15)
        await wait_until(lambda: count_children(shell.pid) == 0)
        shell.kill()
    assert count_children(2**22 + 1) is None


def test_a_process_start_is_between_boot_and_now():
    now, entry = SystemClock().now(), procfs.read_process(os.getpid())
    assert now - 3600 * NS < compute_start_instant(entry.started, now) < now
    assert compute_start_instant(1 << 50, now) == now
    assert sys.platform == "linux"


@pytest.fixture
def process():
    with subprocess.Popen(["sleep", "60"]) as child:
        yield child
        child.kill()


@pytest.fixture
async def exit_watcher():
    """Return the queue of reported exits and the watcher."""
    queue: asyncio.Queue[tuple[int, int, int | None]] = asyncio.Queue()
    watching = ProcessExitWatcher(lambda *life: queue.put_nowait(life))
    yield queue, watching
    watching.close()


async def test_an_exit_watched_twice_is_reported_once(process, exit_watcher):
    queue, watching = exit_watcher
    started = read_process(process.pid).started
    assert watching.watch_process(process.pid, started)
    assert watching.watch_process(process.pid, started)
    process.kill()
    assert await queue.get() == (process.pid, started, 128 + signal.SIGKILL)
    assert queue.empty()
    assert watching._handles == {}


@pytest.mark.parametrize(("end", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -15 $$", 143)])
async def test_the_exit_code_of_a_process_of_another_parent_is_reported(exit_watcher, end, code):
    queue, watching = exit_watcher
    line = f"exec 3<&0; sh -c 'read line <&3; {end}' & echo $!; wait $!"
    with subprocess.Popen(["sh", "-c", line], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as shell:
        pid = int(shell.stdout.readline())
        assert watching.watch_process(pid, read_process(pid).started)
        shell.communicate("go\n")
    assert (await queue.get())[2] in ((code, None) if _is_old_kernel() else (code,))


def _is_old_kernel() -> bool:
    """Return True if the kernel forgets the exit code of a process that its parent has reaped."""
    return tuple(int(part) for part in os.uname().release.split(".")[:2]) < (6, 15)


async def test_a_process_that_has_exited_is_reported(process, exit_watcher):
    queue, watching = exit_watcher
    started = read_process(process.pid).started
    process.kill()
    process.wait()
    assert watching.watch_process(process.pid, started)
    assert await queue.get() == (process.pid, started, None)


async def test_a_reused_pid_is_reported_as_exited(process, exit_watcher):
    queue, watching = exit_watcher
    assert watching.watch_process(process.pid, 1)
    assert await queue.get() == (process.pid, 1, None)
    assert watching._handles == {}


async def test_an_unwatched_process_is_not_reported_and_its_handle_is_closed(process, exit_watcher):
    queue, watching = exit_watcher
    before = os.listdir("/proc/self/fd")
    watching.watch_process(process.pid, read_process(process.pid).started)
    watching.unwatch_process(process.pid, read_process(process.pid).started)
    watching.unwatch_process(process.pid, 7)
    assert len(os.listdir("/proc/self/fd")) == len(before)
    process.kill()
    process.wait()
    await asyncio.sleep(0)
    assert queue.empty()


async def test_without_a_kernel_handle_watching_returns_false(process, exit_watcher, monkeypatch):
    def raise_unsupported(pid: int) -> int:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(process_lifetime, "_open_exit_descriptor", raise_unsupported)
    assert not exit_watcher[1].watch_process(process.pid, read_process(process.pid).started)
