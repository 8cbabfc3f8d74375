import asyncio

import pytest

from termvisor.agents.adapters.codex.server_client.app_server import SOCKET
from termvisor.agents.adapters.codex.server_client.rpc import Rpc
from termvisor.agents.adapters.codex.server_client.websocket import connect
from termvisor.errors import BadRequest, TimedOut, Unavailable
from termvisor.testing.tmux import short_folder
from tests.unit.agents.adapters.codex.server_client.codex_server import codex_server


@pytest.fixture
async def talk():
    """A server, our end of the line, and what was said unasked."""
    said: asyncio.Queue = asyncio.Queue()
    with short_folder() as folder:
        async with codex_server(folder) as server:
            socket = await connect(f"{folder}/{SOCKET}")
            rpc = Rpc(socket, said.put_nowait)
            listening = asyncio.ensure_future(rpc.listen())
            yield server, rpc, said
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
            await socket.close()


async def test_a_question_has_its_answer(talk):
    server, rpc, _ = talk
    server.answers["thread/list"] = {"data": [1, 2]}
    assert await rpc.ask("thread/list", {"limit": 3}) == {"data": [1, 2]}
    assert server.asked == [{"id": 1, "method": "thread/list", "params": {"limit": 3}}]


async def test_questions_at_once_are_not_mixed_up(talk):
    server, rpc, _ = talk
    server.answers |= {"a": {"is": "a"}, "b": {"is": "b"}}
    assert await asyncio.gather(rpc.ask("a", {}), rpc.ask("b", {})) == [{"is": "a"}, {"is": "b"}]


async def test_a_refusal_says_why(talk):
    _, rpc, _ = talk
    with pytest.raises(BadRequest, match="unknown method"):
        await rpc.ask("nonsense", {})


async def test_no_answer_is_not_waited_for_for_ever(talk):
    server, rpc, _ = talk
    server.answers["thread/list"] = None
    with pytest.raises(TimedOut, match="thread/list"):
        await rpc.ask("thread/list", {}, seconds=0.01)


async def test_whoever_waits_hears_of_the_end(talk):
    server, rpc, _ = talk
    server.answers["thread/list"] = None
    waiting = asyncio.ensure_future(rpc.ask("thread/list", {}))
    await server.was_asked("thread/list")
    server.hang_up()
    with pytest.raises(Unavailable):
        await waiting
    with pytest.raises(Unavailable):
        await rpc.ask("thread/list", {})


async def test_what_is_said_unasked_is_handed_on_and_requests_can_be_answered(talk):
    server, rpc, said = talk
    await rpc.ask("initialize", {})
    server.say({"method": "item/commandExecution/requestApproval", "id": 0, "params": {}})
    assert (await said.get())["id"] == 0
    await rpc.reply(0, {"decision": "accept"})
    await rpc.tell("initialized")
    await server.was_asked("initialized")
    assert server.asked[-2:] == [{"id": 0, "result": {"decision": "accept"}}, {"method": "initialized"}]
