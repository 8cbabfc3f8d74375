"""The exit of a real process is reported once."""

import asyncio
import os
import subprocess

import pytest

from termvisor.system import process_exit
from termvisor.system.process_exit import ProcessExitWatcher
from termvisor.system.procfs import read_process


@pytest.fixture
def process():
    with subprocess.Popen(["sleep", "60"]) as child:
        yield child
        child.kill()


@pytest.fixture
async def told():
    """Ends that are told, and the watcher."""
    queue: asyncio.Queue[tuple[int, int]] = asyncio.Queue()
    watching = ProcessExitWatcher(lambda *life: queue.put_nowait(life))
    yield queue, watching
    watching.close()


async def test_an_exit_watched_twice_is_reported_once(process, told):
    queue, watching = told
    started = read_process(process.pid).started
    assert watching.watch_process(process.pid, started)
    assert watching.watch_process(process.pid, started)
    process.kill()
    assert await queue.get() == (process.pid, started)
    assert queue.empty()
    assert watching._handles == {}


async def test_a_process_that_has_exited_is_reported(process, told):
    queue, watching = told
    started = read_process(process.pid).started
    process.kill()
    process.wait()
    assert watching.watch_process(process.pid, started)
    assert await queue.get() == (process.pid, started)


async def test_a_pid_that_has_another_life_by_now_has_ended(process, told):
    queue, watching = told
    assert watching.watch_process(process.pid, 1)
    assert await queue.get() == (process.pid, 1)
    assert watching._handles == {}


async def test_an_unwatched_process_is_not_reported_and_its_handle_is_closed(process, told):
    queue, watching = told
    before = os.listdir("/proc/self/fd")
    watching.watch_process(process.pid, read_process(process.pid).started)
    watching.unwatch_process(process.pid, read_process(process.pid).started)
    watching.unwatch_process(process.pid, 7)
    assert len(os.listdir("/proc/self/fd")) == len(before)
    process.kill()
    process.wait()
    await asyncio.sleep(0)
    assert queue.empty()


async def test_without_a_kernel_handle_watching_returns_false(process, told, monkeypatch):
    def none_left(pid: int) -> int:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(process_exit, "_open_exit_descriptor", none_left)
    assert not told[1].watch_process(process.pid, read_process(process.pid).started)
