"""Answer request lines: run the operation that a client names, and send its result or its error.

Command lines are answered with byte frames, JSON-RPC calls with data. Every exception becomes an error answer; only a
lost connection ends a request without one.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from typing import Any, Protocol, get_args

from msgspec import Struct, UnsetType, ValidationError, convert

from termvisor import __version__
from termvisor.daemon.services.services import DaemonServices
from termvisor.errors import BadRequest, InternalError, VisorError
from termvisor.log import get_logger
from termvisor.model.action.action import CallerFace
from termvisor.ops.api import dispatch
from termvisor.ops.api.catalog import STREAM_OPERATIONS
from termvisor.ops.api.operation import Operation
from termvisor.protocol import command_protocol, jsonrpc
from termvisor.protocol.unix_socket import PeerProcess

HEARTBEAT_INTERVAL_S = 2.0
"""A hook gives up after five times this interval without a frame."""
_HOOK_COMMAND = "hook"
CALL_TOOL, WATCH_RESOURCES = "call_tool", "watch_resources"
"""Methods for bridges to models, beside the operations."""
log = get_logger("daemon.requests")
SendBytes = Callable[[bytes], Awaitable[None]]


class ClientDisconnected(Exception):
    """The client closed its connection before the answer was sent."""


class RequestHandler(Protocol):
    """Interface of the object that answers requests."""

    def get_hello(self) -> jsonrpc.DaemonHello: ...

    def run_command(self, request: command_protocol.CommandRequest, peer: PeerProcess) -> AsyncGenerator[bytes, None]:
        """Yield frames of the command protocol, ending with the exit status."""

    async def call_operation(self, name: str, params: dict[str, Any], peer: PeerProcess) -> Any: ...

    async def call_tool(self, params: dict[str, Any], peer: PeerProcess) -> Any:
        """Run the call of a model; an error of the operation is part of the answer."""

    def stream_operation(self, name: str, params: dict[str, Any], peer: PeerProcess) -> AsyncGenerator[Any, None]: ...

    async def reload(self) -> None:
        """Reload the settings and log the result."""

    def stop(self, *, keep_recorder: bool) -> None:
        """Begin an orderly shutdown of the daemon; the recorder may keep running for the next daemon."""


class ClientContext(Struct, frozen=True):
    """The client process of a request and the handler that answers it."""

    handler: RequestHandler
    peer: PeerProcess


async def handle_command(caller: ClientContext, line: bytes, send: SendBytes) -> None:
    # Sent before the request is parsed, so that the client sees immediately that the daemon is alive, and its version.
    await send(command_protocol.encode_frame(b"a", command_protocol.PROTOCOL_VERSION))
    try:
        jsonrpc.check_protocol(command_protocol.parse_version(line), command_protocol.PROTOCOL_VERSION)
        request = command_protocol.decode_request(line)
        request.argv = dispatch.replace_bytes(request.argv, is_robot=request.is_robot)
        send_answer = _send_answer_with_heartbeat if request.argv[:1] == (_HOOK_COMMAND,) else _send_answer
        await send_answer(caller, request, send)
    except ClientDisconnected:
        raise
    except Exception as error:
        # Bugs in operations are reported to the client too.
        failure = _to_visor_error(error)
        text = f"visor: {failure.message}\nhint: {failure.hint}\n".encode()
        exit_frame = command_protocol.encode_frame(b"x", failure.exit_status)
        await send(command_protocol.encode_output(b"e", text) + exit_frame)


async def _send_answer(caller: ClientContext, request: command_protocol.CommandRequest, send: SendBytes) -> None:
    async with aclosing(caller.handler.run_command(request, caller.peer)) as frames:
        async for data in frames:
            await send(data)


async def _send_answer_with_heartbeat(
    caller: ClientContext, request: command_protocol.CommandRequest, send: SendBytes
) -> None:
    """Send heartbeats until the answer is available, then the answer: a hook may wait minutes for an approval."""
    failure: Exception | None = None
    async with asyncio.TaskGroup() as group:
        heartbeat = group.create_task(_send_heartbeats(send))
        try:
            await _send_answer(caller, request, send)
        except Exception as error:
            # Raised outside, so that it is not wrapped in an exception group.
            failure = error
        heartbeat.cancel()
    if failure is not None:
        raise failure


async def _send_heartbeats(send: SendBytes) -> None:
    # Sending the answer raises the same error and ends the request.
    with suppress(ClientDisconnected):
        while True:
            await asyncio.sleep(HEARTBEAT_INTERVAL_S)
            await send(command_protocol.encode_frame(b"a", command_protocol.PROTOCOL_VERSION))


async def handle_rpc(caller: ClientContext, request: jsonrpc.RpcRequest, send: SendBytes) -> None:
    is_notification = isinstance(request.id, UnsetType)
    request_id = None if isinstance(request.id, UnsetType) else request.id
    try:
        result = await _run_rpc_method(caller, request, request_id, send)
        answer = jsonrpc.encode_message(jsonrpc.RpcResponse(request_id, result=result))
    except ClientDisconnected:
        raise
    except Exception as error:
        # Encoding is inside the try block: a result that cannot be encoded is a bug in the operation, too.
        answer = jsonrpc.encode_message(jsonrpc.build_error_response(request_id, _to_visor_error(error)))
    if not is_notification:
        await send(answer)


async def _run_rpc_method(
    caller: ClientContext, request: jsonrpc.RpcRequest, request_id: jsonrpc.RequestId, send: SendBytes
) -> Any:
    handler = caller.handler
    if request.method == "hello":
        caller.peer.face = _parse_face(request.params.get("face", "python"))
        return _check_hello(handler, request.params.get("protocol", command_protocol.PROTOCOL_VERSION))
    if request.method == "shutdown":
        handler.stop(keep_recorder=request.params.get("keep_recorder") is True)
        return {"stopping": True, "pid": handler.get_hello().pid}
    if request.method == CALL_TOOL:
        return await handler.call_tool(request.params, caller.peer)
    if request.method in handler.get_hello().streams or request.params.get("follow") is True:
        return {"items": await _stream_items(caller, request, request_id, send)}
    return await handler.call_operation(request.method, request.params, caller.peer)


def _check_hello(handler: RequestHandler, protocol: object) -> jsonrpc.DaemonHello:
    if not isinstance(protocol, int):
        raise BadRequest("hello: protocol must be an integer")
    jsonrpc.check_protocol(protocol, command_protocol.PROTOCOL_VERSION)
    return handler.get_hello()


def _parse_face(face: object) -> CallerFace:
    faces: tuple[CallerFace, ...] = get_args(CallerFace)
    if face not in faces:
        raise BadRequest(f"hello: face must be one of {', '.join(faces)}")
    return faces[faces.index(face)]


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


class OperationDispatcher:
    def __init__(self, services: DaemonServices, stop: Callable[[], None]):
        self._services, self._request_stop = services, stop
        self._hello = jsonrpc.DaemonHello(
            __version__, command_protocol.PROTOCOL_VERSION, os.getpid(), (*STREAM_OPERATIONS, WATCH_RESOURCES)
        )

    def get_hello(self) -> jsonrpc.DaemonHello:
        return self._hello

    async def run_command(
        self, request: command_protocol.CommandRequest, peer: PeerProcess
    ) -> AsyncGenerator[bytes, None]:
        # The client sends command lines unparsed; this frame makes it run the command itself.
        operation = _find_local_operation(request)
        if operation is not None and operation.list_changes is None:
            yield command_protocol.encode_frame(b"l", 0)
            return
        services = await self._bind_caller(_find_face(request), peer)
        context = convert(request.to_fields(), dispatch.CommandContext)
        if operation is not None:
            refusal = [encode_frame(part) async for part in dispatch.authorize_local_command(services, context)]
            yield b"".join(refusal) or command_protocol.encode_frame(b"l", 0)
            return
        async with aclosing(dispatch.dispatch_command_line(services, context)) as answer_parts:
            async for answer_part in answer_parts:
                yield encode_frame(answer_part)

    async def call_operation(self, name: str, params: dict[str, Any], peer: PeerProcess) -> Any:
        return await dispatch.call_operation(await self._bind_caller(_parse_face(peer.face), peer), name, params)

    async def call_tool(self, params: dict[str, Any], peer: PeerProcess) -> Any:
        # Imported with the first call: a daemon without models needs less memory.
        from termvisor.ops.api import tool_calls

        try:
            call = convert(params, tool_calls.ToolCall)
        except ValidationError as error:
            raise BadRequest(f"call_tool: {error}") from error
        actor = await self._services.callers.identify(_parse_face(peer.face), peer)
        return await tool_calls.call_tool(self._services.bind_caller(actor, tool_calls.parse_cause(call.cause)), call)

    async def stream_operation(self, name: str, params: dict[str, Any], peer: PeerProcess) -> AsyncGenerator[Any, None]:
        services = await self._bind_caller(_parse_face(peer.face), peer)
        stream: AsyncGenerator[Any, None]
        if name == WATCH_RESOURCES:
            from termvisor.ops.api.resource_updates import watch_resources

            stream = watch_resources(services)
        else:
            stream = dispatch.stream_operation(services, name, params)
        async with aclosing(stream) as items:
            async for item in items:
                yield item

    async def _bind_caller(self, face: CallerFace, peer: PeerProcess) -> DaemonServices:
        return self._services.bind_caller(await self._services.callers.identify(face, peer))

    async def reload(self) -> None:
        try:
            result = await self._services.maintenance.reload_settings()
        except VisorError as error:
            log.error("the settings were not reloaded: %s", error)
        else:
            applied, needs_restart = ", ".join(result.applied), ", ".join(result.needs_restart)
            log.info("settings reloaded: %s; need a restart: %s", applied or "none", needs_restart or "none")
            if result.rules.count is not None:
                log.info("rules reloaded: %d are active", result.rules.count)

    def stop(self, *, keep_recorder: bool) -> None:
        self._services.keeps_recorder = keep_recorder
        self._request_stop()


def encode_frame(answer_part: bytes | int) -> bytes:
    if isinstance(answer_part, int):
        return command_protocol.encode_frame(b"x", answer_part)
    return command_protocol.encode_output(dispatch.CHUNK_KINDS.get(type(answer_part), b"o"), answer_part)


def _find_face(request: command_protocol.CommandRequest) -> CallerFace:
    # Hooks are run by agents, never by a person.
    return "robot" if request.is_robot or request.argv[:1] == (_HOOK_COMMAND,) else "cli"


def _find_local_operation(request: command_protocol.CommandRequest) -> Operation | None:
    """Return the operation if the client runs it by itself; None if it needs the daemon, or does not exist."""
    try:
        operation, words = dispatch.find_operation(request.argv, request.is_robot)
    except VisorError:
        # The error is reported when the command line is dispatched.
        return None
    return operation if operation.is_local(words) else None
