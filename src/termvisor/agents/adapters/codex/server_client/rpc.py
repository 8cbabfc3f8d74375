"""JSON-RPC over one WebSocket, as Codex speaks it: without the field ``jsonrpc``, and with requests from both ends."""

import asyncio
from collections.abc import Callable, Mapping
from itertools import count

import msgspec

from termvisor.agents.adapters.codex.server_client.websocket import WebSocket
from termvisor.errors import BadRequest, TimedOut, Unavailable

RpcMessage = dict[str, object]
ANSWER_TIMEOUT_S = 10.0


class CodexRpcClient:
    """``told`` gets whatever the other end says unasked. It must not wait: nothing is heard meanwhile."""

    def __init__(self, socket: WebSocket, on_message: Callable[[RpcMessage], None]):
        self._socket, self._on_message = socket, on_message
        self._request_ids = count(1)
        self._pending_answers: dict[int, asyncio.Future[RpcMessage]] = {}
        self._is_closed = False

    async def receive_messages(self) -> None:
        """Until the connection ends; then raises Unavailable, as all do who still wait for an answer."""
        try:
            while True:
                self._process_message(await self._socket.receive())
        finally:
            self._is_closed = True
            for waiting in self._pending_answers.values():
                if not waiting.done():
                    waiting.set_exception(Unavailable("the connection was closed"))
            self._pending_answers.clear()

    async def send_request(
        self, method: str, params: Mapping[str, object], seconds: float = ANSWER_TIMEOUT_S
    ) -> RpcMessage:
        """The result. Raises BadRequest for an error, TimedOut when no answer comes, Unavailable when none can come."""
        if self._is_closed:
            raise Unavailable("the connection was closed")
        number = next(self._request_ids)
        waiting: asyncio.Future[RpcMessage] = asyncio.get_running_loop().create_future()
        self._pending_answers[number] = waiting
        try:
            await self._send({"id": number, "method": method, "params": params})
            async with asyncio.timeout(seconds):
                return await waiting
        except TimeoutError as error:
            raise TimedOut(f"no answer to {method} within {seconds:g} s") from error
        finally:
            self._pending_answers.pop(number, None)

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
            raise Unavailable("the other end says what is no JSON") from error
        if not isinstance(message, dict):
            return
        if "method" in message:
            self._on_message(message)
        elif isinstance(number := message.get("id"), int) and number in self._pending_answers:
            self._resolve_answer(self._pending_answers[number], message)

    def _resolve_answer(self, waiting: asyncio.Future[RpcMessage], message: RpcMessage) -> None:
        if waiting.done():
            return
        result = message.get("result")
        if isinstance(result, dict):
            waiting.set_result(result)
        else:
            error = message.get("error")
            words = error.get("message") if isinstance(error, dict) else None
            waiting.set_exception(BadRequest(f"the request was refused: {words or 'without a reason'}"))
