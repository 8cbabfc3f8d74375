"""What a client hears that comes when too many are there: in its own words, that it may come later.

The greeting and the order to stop are still understood: a crowd must not keep its owner from ending the daemon.
"""

import resource
from collections.abc import AsyncGenerator
from typing import Any

from termvisor.daemon.server.request import RequestHandler
from termvisor.errors import Unavailable
from termvisor.protocol import command_protocol, jsonrpc
from termvisor.system.peer_credentials import PeerProcess

MAX_CLIENTS = 4096


def compute_max_clients() -> int:
    """How many may be connected at once: half of the descriptors, the rest is for panes and files."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_CLIENTS if descriptors == resource.RLIM_INFINITY else min(MAX_CLIENTS, descriptors // 2)


class OverloadHandler:
    """Stands before the real desk for a client too many."""

    def __init__(self, handler: RequestHandler, max_clients: int):
        self._handler, self._max_clients = handler, max_clients

    def get_hello(self) -> jsonrpc.DaemonHello:
        return self._handler.get_hello()

    async def run_command(
        self, request: command_protocol.CommandRequest, peer: PeerProcess
    ) -> AsyncGenerator[bytes, None]:
        raise self._build_overload_error()
        yield b""

    async def call_operation(self, name: str, params: dict[str, Any], peer: PeerProcess) -> Any:
        raise self._build_overload_error()

    async def stream_operation(self, name: str, params: dict[str, Any], peer: PeerProcess) -> AsyncGenerator[Any, None]:
        raise self._build_overload_error()
        yield None

    async def reload(self) -> None:
        await self._handler.reload()

    def stop(self, *, keep_recorder: bool) -> None:
        self._handler.stop(keep_recorder=keep_recorder)

    def _build_overload_error(self) -> Unavailable:
        return Unavailable(
            f"more than {self._max_clients} clients are connected to the daemon",
            hint="Close some of them. `visor daemon restart` ends all connections and loses nothing.",
        )
