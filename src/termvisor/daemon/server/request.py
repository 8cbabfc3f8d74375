"""One request and its answer: a line comes in, bytes for the client go out through ``send``.

Whatever goes wrong in between is told to the client; only a lost connection ends a conversation without an answer.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from typing import Any, Protocol

from msgspec import Struct, UnsetType

from termvisor.errors import BadRequest, InternalError, VisorError
from termvisor.log import get_logger
from termvisor.protocol import command_protocol, jsonrpc
from termvisor.system.peer_credentials import PeerProcess

HEARTBEAT_INTERVAL_S = 2.0
"""Seconds; a hook takes five times as much for the end of us."""
_HOOK_COMMAND = "hook"
log = get_logger("daemon.conversation")
SendBytes = Callable[[bytes], Awaitable[None]]


class ClientDisconnected(Exception):
    """Nobody is there any more to hear the answer."""


class RequestHandler(Protocol):
    """Where requests are answered."""

    def get_hello(self) -> jsonrpc.DaemonHello: ...

    def run_command(self, request: command_protocol.CommandRequest, peer: PeerProcess) -> AsyncGenerator[bytes, None]:
        """The frames of the face protocol, the exit status last."""

    async def call_operation(self, name: str, params: dict[str, Any], peer: PeerProcess) -> Any: ...

    def stream_operation(self, name: str, params: dict[str, Any], peer: PeerProcess) -> AsyncGenerator[Any, None]: ...

    async def reload(self) -> None:
        """Read the settings again; what became of it is logged."""

    def stop(self, *, keep_recorder: bool) -> None:
        """Begin the orderly stop of the daemon; the recorder may stay for the next one."""


class ClientContext(Struct, frozen=True):
    """Who asks, and where."""

    handler: RequestHandler
    peer: PeerProcess


async def handle_command(caller: ClientContext, line: bytes, send: SendBytes) -> None:
    await send(command_protocol.encode_frame(b"a", command_protocol.PROTOCOL_VERSION))
    try:
        jsonrpc.check_protocol(command_protocol.parse_version(line), command_protocol.PROTOCOL_VERSION)
        asked = command_protocol.decode_request(line)
        await (_send_answer_with_heartbeat if asked.argv[:1] == (_HOOK_COMMAND,) else _send_answer)(caller, asked, send)
    except ClientDisconnected:
        raise
    except Exception as error:
        trouble = _to_visor_error(error)
        text = f"visor: {trouble.message}\nhint: {trouble.hint}\n".encode()
        await send(
            command_protocol.encode_output(b"e", text) + command_protocol.encode_frame(b"x", trouble.exit_status)
        )


async def _send_answer(caller: ClientContext, request: command_protocol.CommandRequest, send: SendBytes) -> None:
    async with aclosing(caller.handler.run_command(request, caller.peer)) as frames:
        async for data in frames:
            await send(data)


async def _send_answer_with_heartbeat(
    caller: ClientContext, request: command_protocol.CommandRequest, send: SendBytes
) -> None:
    """An agent waits for its hook, which is told again and again that we are still here."""
    failure: Exception | None = None
    async with asyncio.TaskGroup() as group:
        beating = group.create_task(_send_heartbeats(send))
        try:
            await _send_answer(caller, request, send)
        except Exception as error:
            failure = error
        beating.cancel()
    if failure is not None:
        raise failure


async def _send_heartbeats(send: SendBytes) -> None:
    with suppress(ClientDisconnected):
        while True:
            await asyncio.sleep(HEARTBEAT_INTERVAL_S)
            await send(command_protocol.encode_frame(b"a", command_protocol.PROTOCOL_VERSION))


async def handle_rpc(caller: ClientContext, request: jsonrpc.RpcRequest, send: SendBytes) -> None:
    is_notification = isinstance(request.id, UnsetType)
    to = None if isinstance(request.id, UnsetType) else request.id
    try:
        answer = jsonrpc.encode_message(
            jsonrpc.RpcResponse(to, result=await _run_rpc_method(caller, request, to, send))
        )
    except ClientDisconnected:
        raise
    except Exception as error:
        answer = jsonrpc.encode_message(jsonrpc.build_error_response(to, _to_visor_error(error)))
    if not is_notification:
        await send(answer)


async def _run_rpc_method(
    caller: ClientContext, request: jsonrpc.RpcRequest, request_id: jsonrpc.RequestId, send: SendBytes
) -> Any:
    desk = caller.handler
    if request.method == "hello":
        return _check_hello(desk, request.params.get("protocol", command_protocol.PROTOCOL_VERSION))
    if request.method == "shutdown":
        desk.stop(keep_recorder=request.params.get("keep_recorder") is True)
        return {"stopping": True, "pid": desk.get_hello().pid}
    if request.method in desk.get_hello().streams or request.params.get("follow") is True:
        return {"items": await _stream_items(caller, request, request_id, send)}
    return await desk.call_operation(request.method, request.params, caller.peer)


def _check_hello(handler: RequestHandler, protocol: object) -> jsonrpc.DaemonHello:
    if not isinstance(protocol, int):
        raise BadRequest("hello: protocol is a whole number")
    jsonrpc.check_protocol(protocol, command_protocol.PROTOCOL_VERSION)
    return handler.get_hello()


async def _stream_items(
    caller: ClientContext, request: jsonrpc.RpcRequest, request_id: jsonrpc.RequestId, send: SendBytes
) -> int:
    count = 0
    async with aclosing(caller.handler.stream_operation(request.method, request.params, caller.peer)) as items:
        async for item in items:
            await send(jsonrpc.encode_message(jsonrpc.StreamNotification(jsonrpc.StreamItem(request_id, item))))
            count += 1
    return count


def _to_visor_error(error: Exception) -> VisorError:
    if isinstance(error, VisorError):
        return error
    if isinstance(error, command_protocol.MalformedCommand):
        return BadRequest(str(error))
    log.error("a request failed", exc_info=error)
    return InternalError(f"the request failed: {type(error).__name__}")
