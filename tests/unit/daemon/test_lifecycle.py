"""One daemon per instance, and the recorder that a killed one leaves."""

import asyncio
import os
import signal
import socket
import sys

import pytest
from msgspec.structs import replace

from termvisor.clock import SystemClock
from termvisor.daemon.lifecycle import (
    find_recorder_pid,
    hold_daemon_lock,
    install_reload_handler,
    install_stop_handler,
    stop_recorder,
)
from termvisor.errors import Conflict
from termvisor.recorder.startup import RecorderOptions
from termvisor.settings import Paths, make_instance_folders
from termvisor.system import files, subprocesses
from termvisor.system.retry import wait_until


@pytest.fixture
def places(folder: str) -> Paths:
    where = Paths(f"{folder}/c", f"{folder}/d", f"{folder}/r")
    make_instance_folders(where)
    return where


async def test_the_lock_is_exclusive(places: Paths) -> None:
    async with hold_daemon_lock(places, SystemClock()):
        assert files.read_lock_holder(places.daemon_lock) == os.getpid()
        with pytest.raises(Conflict, match=str(os.getpid())):
            async with hold_daemon_lock(places, SystemClock(), timeout_s=0.0):
                pass
    assert files.read_lock_holder(places.daemon_lock) is None


async def test_a_second_daemon_waits_for_one_that_is_stopping(places: Paths) -> None:
    stopping = files.acquire_lock(places.daemon_lock)
    assert stopping is not None
    async with asyncio.TaskGroup() as group:
        successor = group.create_task(_hold_once(places))
        await asyncio.sleep(0)
        assert not successor.done()
        os.close(stopping)


async def test_a_second_daemon_does_not_wait_for_a_serving_one(places: Paths) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(places.daemon_socket)
        server.listen()
        held = files.acquire_lock(places.daemon_lock)
        with pytest.raises(Conflict, match="already running"):
            await _hold_once(places)
        os.close(held or -1)


async def test_a_daemon_with_another_runtime_folder_cannot_use_the_same_data_folder(places: Paths, folder: str) -> None:
    other = replace(places, runtime_dir=f"{folder}/other")
    make_instance_folders(other)
    async with hold_daemon_lock(places, SystemClock()):
        with pytest.raises(Conflict) as caught:
            await _hold_once(other, timeout_s=0.0)
    assert f"pid {os.getpid()}" in caught.value.message
    assert places.runtime_dir in caught.value.message
    assert f"VISOR_RUNTIME_DIR={places.runtime_dir}" in caught.value.hint
    # The failed attempt released its own lock.
    await _hold_once(other, timeout_s=0.0)


async def test_sigterm_stops_the_daemon_and_a_closing_terminal_does_not() -> None:
    before = signal.getsignal(signal.SIGHUP)
    stop = asyncio.Event()
    install_stop_handler(stop.set)
    os.kill(os.getpid(), signal.SIGHUP)
    assert not stop.is_set()
    os.kill(os.getpid(), signal.SIGTERM)
    await stop.wait()
    signal.signal(signal.SIGHUP, before)


async def test_sighup_reloads_the_settings() -> None:
    asked = asyncio.Event()
    install_reload_handler(asked.set)
    os.kill(os.getpid(), signal.SIGHUP)
    await asked.wait()
    asyncio.get_running_loop().remove_signal_handler(signal.SIGHUP)


def test_a_recorder_without_a_daemon_is_found_and_stopped(places: Paths) -> None:
    assert find_recorder_pid(places) is None
    stop_recorder(places)
    options = RecorderOptions(places.recorder_socket, places.raw_dir, 1 << 20, 1 << 20)
    root = os.path.dirname(os.path.dirname(os.path.dirname(subprocesses.__file__)))
    child = subprocesses.start_detached(options.build_command(sys.executable, root))
    assert wait_until(lambda: find_recorder_pid(places) is not None, 10.0)
    assert find_recorder_pid(places) == child.pid
    stop_recorder(places)
    assert child.wait(10.0) == 0
    assert find_recorder_pid(places) is None


async def _hold_once(places: Paths, timeout_s: float = 8.0) -> None:
    async with hold_daemon_lock(places, SystemClock(), timeout_s):
        return
