"""JSON-RPC requests, replies and notifications of the Codex client."""

import asyncio

import pytest

from termvisor.agents.adapters.codex.server_client.server import SOCKET_PATH
from termvisor.agents.adapters.codex.server_client.websocket_rpc import CodexRpcClient, connect_websocket
from termvisor.errors import BadRequest, TimedOut, Unavailable
from termvisor.testing.private_tmux import make_short_folder
from tests.unit.agents.adapters.codex.server_client.fake_app_server import run_fake_app_server


@pytest.fixture
async def rpc_connection():
    """Return the server, the RPC client and the queue of its notifications."""
    notifications: asyncio.Queue = asyncio.Queue()
    with make_short_folder() as folder:
        async with run_fake_app_server(folder) as server:
            socket = await connect_websocket(f"{folder}/{SOCKET_PATH}")
            rpc = CodexRpcClient(socket, notifications.put_nowait)
            receiver = asyncio.ensure_future(rpc.receive_messages())
            yield server, rpc, notifications
            receiver.cancel()
            await asyncio.gather(receiver, return_exceptions=True)
            await socket.close()


async def test_a_request_returns_its_answer(rpc_connection):
    server, rpc, _ = rpc_connection
    server.answers["thread/list"] = {"data": [1, 2]}
    assert await rpc.send_request("thread/list", {"limit": 3}) == {"data": [1, 2]}
    assert server.received_messages == [{"id": 1, "method": "thread/list", "params": {"limit": 3}}]


async def test_concurrent_requests_get_their_own_answers(rpc_connection):
    server, rpc, _ = rpc_connection
    server.answers |= {"a": {"is": "a"}, "b": {"is": "b"}}
    assert await asyncio.gather(rpc.send_request("a", {}), rpc.send_request("b", {})) == [{"is": "a"}, {"is": "b"}]


async def test_a_rejected_request_has_the_reason(rpc_connection):
    _, rpc, _ = rpc_connection
    with pytest.raises(BadRequest, match="unknown method"):
        await rpc.send_request("nonsense", {})


async def test_a_request_without_an_answer_times_out(rpc_connection):
    server, rpc, _ = rpc_connection
    server.answers["thread/list"] = None
    with pytest.raises(TimedOut, match="thread/list"):
        await rpc.send_request("thread/list", {}, seconds=0.01)


async def test_pending_requests_fail_when_the_connection_ends(rpc_connection):
    server, rpc, _ = rpc_connection
    server.answers["thread/list"] = None
    waiting = asyncio.ensure_future(rpc.send_request("thread/list", {}))
    await server.wait_for_request("thread/list")
    server.close_connections()
    with pytest.raises(Unavailable):
        await waiting
    with pytest.raises(Unavailable):
        await rpc.send_request("thread/list", {})


async def test_notifications_are_passed_on_and_requests_can_be_answered(rpc_connection):
    server, rpc, notifications = rpc_connection
    await rpc.send_request("initialize", {})
    server.send_message({"method": "item/commandExecution/requestApproval", "id": 0, "params": {}})
    assert (await notifications.get())["id"] == 0
    await rpc.send_reply(0, {"decision": "accept"})
    await rpc.send_notification("initialized")
    await server.wait_for_request("initialized")
    assert server.received_messages[-2:] == [{"id": 0, "result": {"decision": "accept"}}, {"method": "initialized"}]
