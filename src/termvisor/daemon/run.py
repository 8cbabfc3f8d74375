"""The daemon from its first breath to its last: folders, lock, log, world, socket, and all of that backwards.

Invariant: when `serve` returns or raises, the socket is gone, the world is closed and the lock is free.
"""

import asyncio
import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TypeVar

from termvisor import __version__
from termvisor.clock import SystemClock
from termvisor.daemon.lifecycle import hold, on_reload_signal, on_stop_signal
from termvisor.daemon.server.dispatcher import DaemonWorld, OpsDesk
from termvisor.daemon.server.listener import Endpoint, bind
from termvisor.daemon.server.request import Desk
from termvisor.log import logger, to_file
from termvisor.settings import Places, Settings, prepare
from termvisor.system.malloc import settle

log = logger("daemon")
W = TypeVar("W")
OpenWorld = Callable[[Places, Settings], AbstractAsyncContextManager[W]]
MakeDesk = Callable[[W, Callable[[], None]], Desk]


def serve(places: Places, settings: Settings, open_world: OpenWorld[DaemonWorld]) -> None:
    """Run the daemon until it is told to stop."""
    prepare(places)
    asyncio.run(live(places, settings, open_world, _settled))


def _settled(world: DaemonWorld, stop: Callable[[], None]) -> OpsDesk:
    desk = OpsDesk(world, stop)
    settle()  # all is there now
    return desk


async def live(places: Places, settings: Settings, open_world: OpenWorld[W], make_desk: MakeDesk[W]) -> None:
    async with hold(places, SystemClock()):
        to_file(places.log_file, settings)
        stop = asyncio.Event()
        on_stop_signal(stop.set)
        listener = bind(places.daemon_socket)
        try:
            async with open_world(places, settings) as world, asyncio.TaskGroup() as group:
                log.info("started %s, pid %d", __version__, os.getpid())  # not before the world has its rules: see warm
                desk = make_desk(world, stop.set)
                endpoint = Endpoint(desk, group)
                await endpoint.open(listener)
                on_reload_signal(lambda: group.create_task(desk.reload()))
                try:
                    await stop.wait()
                finally:
                    await endpoint.close()
        except BaseException:
            log.exception("the daemon ends because of an error")
            raise
        finally:
            listener.close()
        log.info("stopped")
