"""Start a multiplexer server for a new program if the one that it belongs on is not running.

The program is held back until the new server is discovered and its pane is captured.
"""

import asyncio
import os
from contextlib import suppress

from msgspec import Struct

from termvisor.backends.backend import Backend
from termvisor.backends.transport import Transport
from termvisor.bus import Bus
from termvisor.capture.server_supervisor import ServerSupervisor
from termvisor.daemon.acting.spawn_gate import open_start_gate, wait_until_captured
from termvisor.model.action.action import Spawn
from termvisor.model.event import Event
from termvisor.model.ids import MuxPaneId
from termvisor.model.terminal.target import ServerKey

# Servers are looked for once a second; a pane that cannot be captured must still start.
_CAPTURE_TIMEOUT_S = 5.0


class ServerLaunch(Struct, frozen=True):
    backend: Backend
    transport: Transport
    key: ServerKey


class LaunchingPaneOpener:
    """Opens the first pane of a server, which starts it. ``folder`` is where the FIFOs are."""

    def __init__(self, launch: ServerLaunch, supervisor: ServerSupervisor, events: Bus[Event], folder: str):
        self._launch, self._supervisor, self._events, self._folder = launch, supervisor, events, folder
        self.started_server = f"the {launch.backend.name} server {launch.key.label}"

    async def open_pane(self, spawn: Spawn, beside: MuxPaneId | None) -> tuple[MuxPaneId, int]:
        key = self._launch.key
        # Subscribe first: the pane may be captured before the server's answer arrives here.
        with self._events.subscribe() as events, open_start_gate(self._folder) as gate:
            events.is_wanted = lambda event: event.kind == "epoch_opened"
            pane, pid = await self._launch.backend.start_server_with_pane(
                self._launch.transport, key.address, spawn, gate
            )
            # Without capture the program starts all the same.
            with suppress(TimeoutError):
                async with asyncio.timeout(_CAPTURE_TIMEOUT_S):
                    await wait_until_captured(lambda: self._supervisor.watchers.get(key), pane, events)
        return pane, pid


async def find_server_launch(supervisor: ServerSupervisor, spawn: Spawn) -> ServerLaunch | None:
    """Return how to start the server that the program belongs on; None if that server would not be watched."""
    for backend, transport in supervisor.list_places():
        is_default = not spawn.place and backend.abilities.is_default_place
        is_place = backend.abilities.spawns and (is_default or backend.name == spawn.place)
        if is_place and transport.target.name == spawn.target and not backend.explain_unavailable():
            address = await _choose_address(backend, transport, spawn.server)
            return ServerLaunch(backend, transport, ServerKey(transport.target.name, address)) if address else None
    return None


async def _choose_address(backend: Backend, transport: Transport, name: str) -> str:
    """Return the address of the named or the default server; empty if it would not be watched."""
    named = await backend.list_named_addresses(transport)
    # The first is the default one.
    addresses = await backend.list_addresses(transport) if named is None else named
    if not name or not addresses:
        return addresses[0] if addresses else ""
    if found := [one for one in addresses if name in (one, os.path.basename(one))]:
        return found[0]
    # Without named addresses, each socket beside the default one is watched.
    is_new = named is None and "/" not in name
    return os.path.join(os.path.dirname(addresses[0]), name) if is_new else ""
