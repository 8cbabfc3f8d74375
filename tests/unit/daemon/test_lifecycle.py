"""One daemon per user, and what it leaves behind."""

import asyncio
import os
import signal
import socket
import sys

import pytest

from termvisor.clock import SystemClock
from termvisor.daemon.lifecycle import hold, on_reload_signal, on_stop_signal, recorder_pid, stop_recorder
from termvisor.errors import Conflict
from termvisor.recorder.options import Options
from termvisor.settings import Places, prepare
from termvisor.system import lock_file as lock
from termvisor.system import subprocesses as spawn
from termvisor.system.polling import until


@pytest.fixture
def places(folder: str) -> Places:
    where = Places(f"{folder}/c", f"{folder}/d", f"{folder}/r")
    prepare(where)
    return where


async def test_while_one_holds_nobody_else_does(places: Places) -> None:
    async with hold(places, SystemClock()):
        assert lock.holder(places.daemon_lock) == os.getpid()
        with pytest.raises(Conflict, match=str(os.getpid())):
            async with hold(places, SystemClock(), patience=0.0):
                pass
    assert lock.holder(places.daemon_lock) is None


async def test_a_successor_waits_for_a_daemon_that_is_just_stopping(places: Places) -> None:
    stopping = lock.take(places.daemon_lock)
    assert stopping is not None
    async with asyncio.TaskGroup() as group:
        successor = group.create_task(_hold_once(places))
        await asyncio.sleep(0)
        assert not successor.done()
        os.close(stopping)


async def test_a_successor_does_not_wait_for_one_that_takes_clients(places: Places) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(places.daemon_socket)
        server.listen()
        held = lock.take(places.daemon_lock)
        with pytest.raises(Conflict, match="runs already"):
            await _hold_once(places)
        os.close(held or -1)


async def test_sigterm_asks_for_the_stop_and_a_closing_terminal_does_not() -> None:
    before = signal.getsignal(signal.SIGHUP)
    stop = asyncio.Event()
    on_stop_signal(stop.set)
    os.kill(os.getpid(), signal.SIGHUP)
    assert not stop.is_set()
    os.kill(os.getpid(), signal.SIGTERM)
    await stop.wait()
    signal.signal(signal.SIGHUP, before)


async def test_sighup_asks_to_read_the_settings_again() -> None:
    asked = asyncio.Event()
    on_reload_signal(asked.set)
    os.kill(os.getpid(), signal.SIGHUP)
    await asked.wait()
    asyncio.get_running_loop().remove_signal_handler(signal.SIGHUP)


def test_a_recorder_without_a_daemon_is_found_and_ended(places: Places) -> None:
    assert recorder_pid(places) is None
    stop_recorder(places)
    options = Options(places.recorder_socket, places.raw_dir, 1 << 20, 1 << 20)
    root = os.path.dirname(os.path.dirname(os.path.dirname(spawn.__file__)))
    child = spawn.detached(options.command(sys.executable, root))
    assert until(lambda: recorder_pid(places) is not None, 10.0)
    assert recorder_pid(places) == child.pid
    stop_recorder(places)
    assert child.wait(10.0) == 0
    assert recorder_pid(places) is None


async def _hold_once(places: Places) -> None:
    async with hold(places, SystemClock()):
        return
