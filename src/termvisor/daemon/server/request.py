"""One request and its answer: a line comes in, bytes for the client go out through ``send``.

Whatever goes wrong in between is told to the client; only a lost connection ends a conversation without an answer.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from typing import Any, Protocol

from msgspec import Struct, UnsetType

from termvisor.errors import BadRequest, Broken, VisorError
from termvisor.log import logger
from termvisor.protocol import command_protocol as face
from termvisor.protocol import jsonrpc as rpc
from termvisor.system.peer_credentials import Peer

BEAT_EVERY = 2.0
"""Seconds; a hook takes five times as much for the end of us."""
_HOOK = "hook"
log = logger("daemon.conversation")
Send = Callable[[bytes], Awaitable[None]]


class ClientGone(Exception):
    """Nobody is there any more to hear the answer."""


class Desk(Protocol):
    """Where requests are answered."""

    def hello(self) -> rpc.Hello: ...

    def answer(self, asked: face.Asked, who: Peer) -> AsyncGenerator[bytes, None]:
        """The frames of the face protocol, the exit status last."""

    async def call(self, name: str, params: dict[str, Any], who: Peer) -> Any: ...

    def stream(self, name: str, params: dict[str, Any], who: Peer) -> AsyncGenerator[Any, None]: ...

    async def reload(self) -> None:
        """Read the settings again; what became of it is logged."""

    def stop(self, *, keep_recorder: bool) -> None:
        """Begin the orderly stop of the daemon; the recorder may stay for the next one."""


class Caller(Struct, frozen=True):
    """Who asks, and where."""

    desk: Desk
    who: Peer


async def answer_face(caller: Caller, line: bytes, send: Send) -> None:
    await send(face.frame(b"a", face.PROTOCOL))
    try:
        rpc.check_protocol(face.version(line), face.PROTOCOL)
        asked = face.decode(line)
        await (_answer_beating if asked.argv[:1] == (_HOOK,) else _answer)(caller, asked, send)
    except ClientGone:
        raise
    except Exception as error:
        trouble = _told(error)
        text = f"visor: {trouble.message}\nhint: {trouble.hint}\n".encode()
        await send(face.output(b"e", text) + face.frame(b"x", trouble.exit_status))


async def _answer(caller: Caller, asked: face.Asked, send: Send) -> None:
    async with aclosing(caller.desk.answer(asked, caller.who)) as frames:
        async for data in frames:
            await send(data)


async def _answer_beating(caller: Caller, asked: face.Asked, send: Send) -> None:
    """An agent waits for its hook, which is told again and again that we are still here."""
    failure: Exception | None = None
    async with asyncio.TaskGroup() as group:
        beating = group.create_task(_beat(send))
        try:
            await _answer(caller, asked, send)
        except Exception as error:
            failure = error
        beating.cancel()
    if failure is not None:
        raise failure


async def _beat(send: Send) -> None:
    with suppress(ClientGone):
        while True:
            await asyncio.sleep(BEAT_EVERY)
            await send(face.frame(b"a", face.PROTOCOL))


async def answer_rpc(caller: Caller, request: rpc.Request, send: Send) -> None:
    is_notification = isinstance(request.id, UnsetType)
    to = None if isinstance(request.id, UnsetType) else request.id
    try:
        answer = rpc.encode(rpc.Answer(to, result=await _result(caller, request, to, send)))
    except ClientGone:
        raise
    except Exception as error:
        answer = rpc.encode(rpc.failed(to, _told(error)))
    if not is_notification:
        await send(answer)


async def _result(caller: Caller, request: rpc.Request, to: rpc.Id, send: Send) -> Any:
    desk = caller.desk
    if request.method == "hello":
        return _hello(desk, request.params.get("protocol", face.PROTOCOL))
    if request.method == "shutdown":
        desk.stop(keep_recorder=request.params.get("keep_recorder") is True)
        return {"stopping": True, "pid": desk.hello().pid}
    if request.method in desk.hello().streams or request.params.get("follow") is True:
        return {"items": await _items(caller, request, to, send)}
    return await desk.call(request.method, request.params, caller.who)


def _hello(desk: Desk, protocol: object) -> rpc.Hello:
    if not isinstance(protocol, int):
        raise BadRequest("hello: protocol is a whole number")
    rpc.check_protocol(protocol, face.PROTOCOL)
    return desk.hello()


async def _items(caller: Caller, request: rpc.Request, to: rpc.Id, send: Send) -> int:
    count = 0
    async with aclosing(caller.desk.stream(request.method, request.params, caller.who)) as items:
        async for item in items:
            await send(rpc.encode(rpc.Notification(rpc.Item(to, item))))
            count += 1
    return count


def _told(error: Exception) -> VisorError:
    if isinstance(error, VisorError):
        return error
    if isinstance(error, face.Malformed):
        return BadRequest(str(error))
    log.error("a request failed", exc_info=error)
    return Broken(f"the request failed: {type(error).__name__}")
