"""Start the daemon's parts in order (folders, lock, log, services, socket), and stop them in reverse order.

Invariant: when `run_daemon` returns or raises, the socket file is removed, services are closed and the lock is free.
"""

import asyncio
import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TypeVar

from termvisor import __version__
from termvisor.clock import SystemClock
from termvisor.daemon.lifecycle import hold_daemon_lock, install_reload_handler, install_stop_handler
from termvisor.daemon.server.dispatcher import OperationDispatcher, RequestHandler
from termvisor.daemon.server.listener import DaemonSocketServer, bind_daemon_socket
from termvisor.daemon.services.services import DaemonServices
from termvisor.log import configure_log_file, get_logger
from termvisor.settings import Paths, Settings, make_instance_folders
from termvisor.system.malloc import freeze_heap

log = get_logger("daemon")
# Shorter than the time for which the next daemon waits for this one's locks.
_SOCKET_CHECK_INTERVAL_S = 1.0
ServicesT = TypeVar("ServicesT")
OpenServices = Callable[[Paths, Settings], AbstractAsyncContextManager[ServicesT]]
MakeHandler = Callable[[ServicesT, Callable[[], None]], RequestHandler]


def run_daemon(paths: Paths, settings: Settings, open_services: OpenServices[DaemonServices]) -> None:
    """Run the daemon until SIGTERM, SIGINT or a `shutdown` request."""
    make_instance_folders(paths)
    asyncio.run(run_until_stopped(paths, settings, open_services, _build_handler))


def _build_handler(services: DaemonServices, stop: Callable[[], None]) -> OperationDispatcher:
    handler = OperationDispatcher(services, stop)
    freeze_heap()  # all objects that live as long as the daemon have been allocated
    return handler


async def _stop_when_unreachable(server: DaemonSocketServer, stop: asyncio.Event) -> None:
    """Stop the daemon if its socket is gone: it could be reached by no client, and would keep the next one out."""
    clock = SystemClock()
    while server.is_reachable():
        await clock.sleep(_SOCKET_CHECK_INTERVAL_S)
    log.error("the daemon's socket was removed or replaced, so no client can reach it: the daemon stops")
    stop.set()


async def run_until_stopped(
    paths: Paths, settings: Settings, open_services: OpenServices[ServicesT], make_handler: MakeHandler[ServicesT]
) -> None:
    async with hold_daemon_lock(paths, SystemClock()):
        configure_log_file(paths.log_file, settings)
        stop = asyncio.Event()
        install_stop_handler(stop.set)
        # Bind first, because it fails if the path is in use; at this point nothing has been opened or captured.
        listener = bind_daemon_socket(paths.daemon_socket)
        try:
            async with open_services(paths, settings) as services, asyncio.TaskGroup() as group:
                # Logged only now: redaction rules must be loaded before the first log line is written.
                log.info("started %s, pid %d", __version__, os.getpid())
                handler = make_handler(services, stop.set)
                server = DaemonSocketServer(handler, group)
                await server.open(listener)
                install_reload_handler(lambda: group.create_task(handler.reload()))
                socket_watch = group.create_task(_stop_when_unreachable(server, stop))
                try:
                    await stop.wait()
                finally:
                    socket_watch.cancel()
                    await server.close()
        # Includes cancellation: the log is the only place where a detached daemon can report why it ended.
        except BaseException:
            log.exception("the daemon stops because of an error")
            raise
        finally:
            listener.close()
        log.info("stopped")
