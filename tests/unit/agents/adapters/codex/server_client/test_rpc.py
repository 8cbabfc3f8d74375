import asyncio

import pytest

from termvisor.agents.adapters.codex.server_client.server import SOCKET_PATH
from termvisor.agents.adapters.codex.server_client.websocket_rpc import CodexRpcClient, connect_websocket
from termvisor.errors import BadRequest, TimedOut, Unavailable
from termvisor.testing.private_tmux import make_short_folder
from tests.unit.agents.adapters.codex.server_client.fake_app_server import run_fake_app_server


@pytest.fixture
async def talk():
    """A server, our end of the line, and what was said unasked."""
    said: asyncio.Queue = asyncio.Queue()
    with make_short_folder() as folder:
        async with run_fake_app_server(folder) as server:
            socket = await connect_websocket(f"{folder}/{SOCKET_PATH}")
            rpc = CodexRpcClient(socket, said.put_nowait)
            listening = asyncio.ensure_future(rpc.receive_messages())
            yield server, rpc, said
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
            await socket.close()


async def test_a_question_has_its_answer(talk):
    server, rpc, _ = talk
    server.answers["thread/list"] = {"data": [1, 2]}
    assert await rpc.send_request("thread/list", {"limit": 3}) == {"data": [1, 2]}
    assert server.received_messages == [{"id": 1, "method": "thread/list", "params": {"limit": 3}}]


async def test_questions_at_once_are_not_mixed_up(talk):
    server, rpc, _ = talk
    server.answers |= {"a": {"is": "a"}, "b": {"is": "b"}}
    assert await asyncio.gather(rpc.send_request("a", {}), rpc.send_request("b", {})) == [{"is": "a"}, {"is": "b"}]


async def test_a_rejected_request_has_the_reason(talk):
    _, rpc, _ = talk
    with pytest.raises(BadRequest, match="unknown method"):
        await rpc.send_request("nonsense", {})


async def test_no_answer_is_not_waited_for_for_ever(talk):
    server, rpc, _ = talk
    server.answers["thread/list"] = None
    with pytest.raises(TimedOut, match="thread/list"):
        await rpc.send_request("thread/list", {}, seconds=0.01)


async def test_pending_requests_fail_when_the_connection_ends(talk):
    server, rpc, _ = talk
    server.answers["thread/list"] = None
    waiting = asyncio.ensure_future(rpc.send_request("thread/list", {}))
    await server.wait_for_request("thread/list")
    server.close_connections()
    with pytest.raises(Unavailable):
        await waiting
    with pytest.raises(Unavailable):
        await rpc.send_request("thread/list", {})


async def test_notifications_are_passed_on_and_requests_can_be_answered(talk):
    server, rpc, said = talk
    await rpc.send_request("initialize", {})
    server.send_message({"method": "item/commandExecution/requestApproval", "id": 0, "params": {}})
    assert (await said.get())["id"] == 0
    await rpc.send_reply(0, {"decision": "accept"})
    await rpc.send_notification("initialized")
    await server.wait_for_request("initialized")
    assert server.received_messages[-2:] == [{"id": 0, "result": {"decision": "accept"}}, {"method": "initialized"}]
