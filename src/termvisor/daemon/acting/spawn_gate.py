"""Start programs in new panes, each held back until its pane is captured, so that its first byte is captured too.

The program waits for the end of a FIFO that only the daemon has open for writing. The kernel closes it when the daemon
dies, so a program is never held for longer than the daemon lives or `_CAPTURE_TIMEOUT_S` allows.
"""

import asyncio
import glob
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from termvisor.bus import Bus, Subscription
from termvisor.capture.server_watcher import ServerWatcher
from termvisor.model.action.action import Spawn
from termvisor.model.event import Event
from termvisor.model.ids import MuxPaneId

# A pane is captured within a tenth of a second; one that cannot be captured must still start.
_CAPTURE_TIMEOUT_S = 2.0
_FIFO_PREFIX = "start-"


class CapturedPaneControl:
    """Pane control that opens panes whose output is captured from the first byte.

    ``events`` are those of the daemon, ``folder`` is where the FIFOs are.
    """

    started_server = ""

    def __init__(self, watcher: ServerWatcher, events: Bus[Event], folder: str):
        control = watcher.backend.build_control(watcher.server)
        self._control, self._watcher, self._events, self._folder = control, watcher, events, folder
        self.read_pane_state, self.list_clients = control.read_pane_state, control.list_clients
        self.write, self.press, self.change_pane = control.write, control.press, control.change_pane

    async def open_pane(self, spawn: Spawn, beside: MuxPaneId | None, gate: str = "") -> tuple[MuxPaneId, int]:
        # Subscribe first: the pane may be captured before tmux's answer arrives here.
        with self._events.subscribe() as events, open_start_gate(self._folder) as path:
            events.is_wanted = lambda event: event.kind == "epoch_opened"
            pane, pid = await self._control.open_pane(spawn, beside, gate or path)
            self._watcher.request_listing()
            # Without capture the program starts all the same.
            with suppress(TimeoutError):
                async with asyncio.timeout(_CAPTURE_TIMEOUT_S):
                    await wait_until_captured(lambda: self._watcher, pane, events)
        return pane, pid


async def wait_until_captured(
    find_watcher: Callable[[], ServerWatcher | None], mux_id: MuxPaneId, events: Subscription[Event]
) -> None:
    """Wait for the event that a pane of the watched server is captured; there may be no watcher yet."""
    while True:
        opened, watcher = await events.get(), find_watcher()
        known = None if watcher is None else watcher.known_panes.get(mux_id)
        if known is not None and opened.pane == known.id:
            return


@contextmanager
def open_start_gate(folder: str) -> Iterator[str]:
    """Create a FIFO for which a program waits, and release the program at the end."""
    path = f"{folder}/{_FIFO_PREFIX}{os.urandom(6).hex()}"
    os.mkfifo(path, 0o600)
    # For reading too, because opening it for writing alone fails while there is no reader.
    descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        yield path
    finally:
        # In this order: a program that comes now finds no FIFO and starts at once.
        os.unlink(path)
        os.close(descriptor)


def release_leftover_gates(folder: str) -> None:
    """Release programs that were started by a daemon which was killed before they had opened their FIFO."""
    for path in glob.glob(f"{glob.escape(folder)}/{_FIFO_PREFIX}*"):
        with suppress(OSError):
            descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
            os.unlink(path)
            os.close(descriptor)
