"""Base of the clients of agent servers: a receiver task fills a queue, which the client processes.

A subclass implements `AgentServer` of `server_contract`. It connects in `_connect`, reads the connection in `_receive`,
and processes `_messages` in `_observe` until one of them raises.

Invariant: the queue is bounded. A message that does not fit is dropped and sets ``_has_dropped_messages``, after which
the subclass must fetch the whole state of the server again.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeVar

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.json_access import JsonObject
from termvisor.agents.adapters.server_contract import ServerDependencies
from termvisor.errors import Unavailable

MessageT = TypeVar("MessageT")
# When the queue is full, messages are dropped and the state of the server is fetched again.
_MAX_QUEUED_MESSAGES = 2000


class ObservingServer(ABC, Generic[MessageT]):
    """A server that is observed through one connection after another."""

    def __init__(self, location: str, dependencies: ServerDependencies):
        self.location = location
        self._dependencies, self._clock = dependencies, dependencies.clock
        self._messages: asyncio.Queue[MessageT | Exception] = asyncio.Queue(_MAX_QUEUED_MESSAGES)
        self._has_dropped_messages = False
        self._connection_error: Exception | None = None
        self._lag_s: float | None = None
        self.is_connected = False
        """Set by the subclass when the connection can be used for requests."""
        self.state_changed = asyncio.Condition()
        """Notified after every message, and when the connection is lost."""

    async def run_connection(self, group: asyncio.TaskGroup) -> None:
        self._messages, self._connection_error = asyncio.Queue(_MAX_QUEUED_MESSAGES), None
        self._has_dropped_messages = False
        try:
            await self._connect()
            receiver = group.create_task(self._receive_until_error())
            try:
                await self._observe()
            finally:
                self.is_connected = False
                receiver.cancel()
                await self._disconnect()
        finally:
            # No request is pending any more, because the server repeats its requests on the next connection.
            self._forget_requests()
            await self._notify_change()

    async def _connect(self) -> None:
        """Open the connection that `_receive` reads, unless `_receive` opens it itself."""

    @abstractmethod
    async def _receive(self) -> None:
        """Pass every message to `_enqueue`; raise the error that ends the connection."""

    @abstractmethod
    async def _observe(self) -> None:
        """Process `_messages` until the connection ends, and raise its error."""

    async def _disconnect(self) -> None:
        """Close the connection that `_connect` opened."""

    @abstractmethod
    def _forget_requests(self) -> None:
        """Remove the pending requests of the lost connection."""

    async def _receive_until_error(self) -> None:
        try:
            await self._receive()
        except Exception as error:  # a failed task would end the reconnect loop and thereby all servers
            self._connection_error = error
            if self._messages.full():
                self._messages.get_nowait()
            self._messages.put_nowait(error)

    def _enqueue(self, message: MessageT) -> None:
        if self._messages.full():
            self._has_dropped_messages = True
        else:
            self._messages.put_nowait(message)

    async def _wait_for_message(self, timeout_s: float) -> MessageT | Exception | None:
        """Return the next message, or the error that ended the connection; None after the timeout."""
        try:
            async with asyncio.timeout(max(0.0, timeout_s)):
                return await self._messages.get()
        except TimeoutError:
            return None

    async def _notify_change(self) -> None:
        async with self.state_changed:
            self.state_changed.notify_all()

    async def _store_records(self, records: Sequence[SourceRecord]) -> None:
        if records:
            await self._dependencies.store_records(records)


def build_not_connected_error(server: str) -> Unavailable:
    """Return the error for a request of the gate while there is no connection."""
    return Unavailable(f"the {server} is not connected", hint="Answer in the pane itself.")


def filter_objects(value: object) -> list[JsonObject]:
    """Return the objects in a list; empty if the value is not a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
