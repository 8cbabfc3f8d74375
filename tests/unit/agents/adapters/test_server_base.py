"""The base of server clients: a bounded queue, a receiver task and the end of a connection."""

import asyncio

import pytest

from termvisor.agents.adapters import server_base
from termvisor.agents.adapters.server_base import ObservingServer, filter_objects
from termvisor.agents.adapters.server_contract import ServerDependencies
from termvisor.clock import SystemClock


class CountingServer(ObservingServer[int]):
    """A server that sends some numbers and closes the connection."""

    def __init__(self, sent: int):
        async def store(records) -> None: ...

        dependencies = ServerDependencies(
            clock=SystemClock(),
            store_records=store,
            report_health=lambda warning, lag: None,
            list_agents=lambda: (),
            list_unwatched_agents=store,
            list_ports=store,
        )
        super().__init__("nowhere", dependencies)
        self.sent, self.seen, self.steps = sent, [], []

    async def _connect(self) -> None:
        self.steps.append("connect")

    async def _receive(self) -> None:
        for number in range(self.sent):
            self._enqueue(number)
        raise OSError("closed")

    async def _observe(self) -> None:
        self.is_connected = True
        while not isinstance(message := await self._wait_for_message(5), Exception):
            self.seen.append(message)
        raise message

    async def _disconnect(self) -> None:
        self.steps.append("disconnect")

    def _forget_requests(self) -> None:
        self.steps.append("forget")


async def run_until_closed(server: CountingServer) -> None:
    async with asyncio.TaskGroup() as group:
        with pytest.raises(OSError, match="closed"):
            await server.run_connection(group)


async def test_messages_are_received_in_order_before_the_connection_error():
    server = CountingServer(3)
    await run_until_closed(server)
    assert server.seen == [0, 1, 2]
    assert server.steps == ["connect", "disconnect", "forget"]
    assert not server.is_connected


async def test_a_full_queue_drops_messages_and_never_the_error(monkeypatch):
    monkeypatch.setattr(server_base, "_MAX_QUEUED_MESSAGES", 2)
    server = CountingServer(5)
    await run_until_closed(server)
    assert server.seen == [1], "the oldest message was dropped for the error"
    assert server._has_dropped_messages


async def test_waiters_for_a_state_change_are_notified_when_the_connection_ends():
    server = CountingServer(0)
    async with asyncio.timeout(5), server.state_changed:
        ending = asyncio.ensure_future(run_until_closed(server))
        await server.state_changed.wait()
    await ending


async def test_waiting_without_messages_times_out():
    assert await CountingServer(0)._wait_for_message(-1) is None


def test_filter_objects_keeps_only_objects_of_a_list():
    assert filter_objects([{"a": 1}, "b", None]) == [{"a": 1}]
    assert filter_objects({"a": 1}) == []
