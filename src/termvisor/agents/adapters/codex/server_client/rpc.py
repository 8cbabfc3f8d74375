"""JSON-RPC client over a WebSocket, in the dialect of Codex: no field ``jsonrpc``, and requests in both directions."""

import asyncio
from collections.abc import Callable, Mapping
from itertools import count

import msgspec

from termvisor.agents.adapters.codex.server_client.websocket import WebSocket
from termvisor.errors import BadRequest, TimedOut, Unavailable

RpcMessage = dict[str, object]
ANSWER_TIMEOUT_S = 10.0


class CodexRpcClient:
    """One connection. ``on_message`` gets notifications and requests of the server; it must not block."""

    def __init__(self, socket: WebSocket, on_message: Callable[[RpcMessage], None]):
        self._socket, self._on_message = socket, on_message
        self._request_ids = count(1)
        self._pending_answers: dict[int, asyncio.Future[RpcMessage]] = {}
        self._is_closed = False

    async def receive_messages(self) -> None:
        """Receive until the connection ends; then raise Unavailable here and in all pending requests."""
        try:
            while True:
                self._process_message(await self._socket.receive())
        finally:
            self._is_closed = True
            for answer in self._pending_answers.values():
                if not answer.done():
                    answer.set_exception(Unavailable("the connection was closed"))
            self._pending_answers.clear()

    async def send_request(
        self, method: str, params: Mapping[str, object], seconds: float = ANSWER_TIMEOUT_S
    ) -> RpcMessage:
        """Return the result. Raises BadRequest for an error, TimedOut, or Unavailable if the connection is closed."""
        if self._is_closed:
            raise Unavailable("the connection was closed")
        request_id = next(self._request_ids)
        answer: asyncio.Future[RpcMessage] = asyncio.get_running_loop().create_future()
        self._pending_answers[request_id] = answer
        try:
            await self._send({"id": request_id, "method": method, "params": params})
            async with asyncio.timeout(seconds):
                return await answer
        except TimeoutError as error:
            raise TimedOut(f"{method} timed out after {seconds:g} s") from error
        finally:
            self._pending_answers.pop(request_id, None)

    async def send_notification(self, method: str) -> None:
        await self._send({"method": method})

    async def send_reply(self, request_id: int | str, result: Mapping[str, object]) -> None:
        await self._send({"id": request_id, "result": result})

    async def _send(self, message: Mapping[str, object]) -> None:
        await self._socket.send(msgspec.json.encode(message).decode())

    def _process_message(self, text: str) -> None:
        try:
            message = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError) as error:
            raise Unavailable("the server sent invalid JSON") from error
        if not isinstance(message, dict):
            return
        if "method" in message:
            self._on_message(message)
        elif isinstance(request_id := message.get("id"), int) and request_id in self._pending_answers:
            self._resolve_answer(self._pending_answers[request_id], message)

    def _resolve_answer(self, answer: asyncio.Future[RpcMessage], message: RpcMessage) -> None:
        if answer.done():
            return
        result = message.get("result")
        if isinstance(result, dict):
            answer.set_result(result)
        else:
            error = message.get("error")
            reason = error.get("message") if isinstance(error, dict) else None
            answer.set_exception(BadRequest(f"the server rejected the request: {reason or 'no reason given'}"))
