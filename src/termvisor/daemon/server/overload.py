"""Answer clients beyond the connection limit with an error in their own protocol.

`hello` and `shutdown` still work: too many clients must not keep the user from stopping the daemon.
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
    """Return the connection limit: half of the file descriptors, the rest is for panes and files."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_CLIENTS if descriptors == resource.RLIM_INFINITY else min(MAX_CLIENTS, descriptors // 2)


class OverloadHandler:
    """Refuse operations and forward everything else to the real handler."""

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
            hint="Close some of them. `visor daemon restart` closes all connections; nothing is lost.",
        )
