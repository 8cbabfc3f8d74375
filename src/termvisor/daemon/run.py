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
from termvisor.daemon.lifecycle import hold_daemon_lock, install_reload_handler, install_stop_handler
from termvisor.daemon.server.dispatcher import DispatcherServices, OperationDispatcher
from termvisor.daemon.server.listener import DaemonSocketServer, bind_daemon_socket
from termvisor.daemon.server.request import RequestHandler
from termvisor.log import configure_log_file, get_logger
from termvisor.settings import Paths, Settings, make_instance_folders
from termvisor.system.malloc import freeze_heap

log = get_logger("daemon")
ServicesT = TypeVar("ServicesT")
OpenServices = Callable[[Paths, Settings], AbstractAsyncContextManager[ServicesT]]
MakeHandler = Callable[[ServicesT, Callable[[], None]], RequestHandler]


def run_daemon(paths: Paths, settings: Settings, open_services: OpenServices[DispatcherServices]) -> None:
    """Run the daemon until it is told to stop."""
    make_instance_folders(paths)
    asyncio.run(run_until_stopped(paths, settings, open_services, _build_handler))


def _build_handler(services: DispatcherServices, stop: Callable[[], None]) -> OperationDispatcher:
    desk = OperationDispatcher(services, stop)
    freeze_heap()  # all is there now
    return desk


async def run_until_stopped(
    paths: Paths, settings: Settings, open_services: OpenServices[ServicesT], make_handler: MakeHandler[ServicesT]
) -> None:
    async with hold_daemon_lock(paths, SystemClock()):
        configure_log_file(paths.log_file, settings)
        stop = asyncio.Event()
        install_stop_handler(stop.set)
        listener = bind_daemon_socket(paths.daemon_socket)
        try:
            async with open_services(paths, settings) as world, asyncio.TaskGroup() as group:
                log.info("started %s, pid %d", __version__, os.getpid())  # not before the world has its rules: see warm
                desk = make_handler(world, stop.set)
                endpoint = DaemonSocketServer(desk, group)
                await endpoint.open(listener)
                install_reload_handler(lambda: group.create_task(desk.reload()))
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
