"""What a client hears that comes when too many are there: in its own words, that it may come later.

The greeting and the order to stop are still understood: a crowd must not keep its owner from ending the daemon.
"""

import resource
from collections.abc import AsyncGenerator
from typing import Any

from termvisor.daemon.server.request import Desk
from termvisor.errors import Unavailable
from termvisor.protocol import command_protocol as face
from termvisor.protocol import jsonrpc as rpc
from termvisor.system.peer_credentials import Peer

MOST = 4096


def most_clients() -> int:
    """How many may be connected at once: half of the descriptors, the rest is for panes and files."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if descriptors == resource.RLIM_INFINITY else min(MOST, descriptors // 2)


class CrowdedDesk:
    """Stands before the real desk for a client too many."""

    def __init__(self, desk: Desk, most: int):
        self._desk, self._most = desk, most

    def hello(self) -> rpc.Hello:
        return self._desk.hello()

    async def answer(self, asked: face.Asked, who: Peer) -> AsyncGenerator[bytes, None]:
        raise self._sorry()
        yield b""

    async def call(self, name: str, params: dict[str, Any], who: Peer) -> Any:
        raise self._sorry()

    async def stream(self, name: str, params: dict[str, Any], who: Peer) -> AsyncGenerator[Any, None]:
        raise self._sorry()
        yield None

    async def reload(self) -> None:
        await self._desk.reload()

    def stop(self, *, keep_recorder: bool) -> None:
        self._desk.stop(keep_recorder=keep_recorder)

    def _sorry(self) -> Unavailable:
        return Unavailable(
            f"more than {self._most} clients are connected to the daemon",
            hint="Close some of them. `visor daemon restart` ends all connections and loses nothing.",
        )
