"""JSON-RPC over one WebSocket, as Codex speaks it: without the field ``jsonrpc``, and with requests from both ends."""

import asyncio
from collections.abc import Callable, Mapping
from itertools import count

import msgspec

from termvisor.agents.adapters.codex.server_client.websocket import WebSocket
from termvisor.errors import BadRequest, TimedOut, Unavailable

Json = dict[str, object]
ANSWER_WITHIN = 10.0


class Rpc:
    """``told`` gets whatever the other end says unasked. It must not wait: nothing is heard meanwhile."""

    def __init__(self, socket: WebSocket, told: Callable[[Json], None]):
        self._socket, self._told = socket, told
        self._numbers = count(1)
        self._asked: dict[int, asyncio.Future[Json]] = {}
        self._is_over = False

    async def listen(self) -> None:
        """Until the connection ends; then raises Unavailable, as all do who still wait for an answer."""
        try:
            while True:
                self._take(await self._socket.receive())
        finally:
            self._is_over = True
            for waiting in self._asked.values():
                if not waiting.done():
                    waiting.set_exception(Unavailable("the connection was closed"))
            self._asked.clear()

    async def ask(self, method: str, params: Mapping[str, object], seconds: float = ANSWER_WITHIN) -> Json:
        """The result. Raises BadRequest for an error, TimedOut when no answer comes, Unavailable when none can come."""
        if self._is_over:
            raise Unavailable("the connection was closed")
        number = next(self._numbers)
        waiting: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._asked[number] = waiting
        try:
            await self._send({"id": number, "method": method, "params": params})
            async with asyncio.timeout(seconds):
                return await waiting
        except TimeoutError as error:
            raise TimedOut(f"no answer to {method} within {seconds:g} s") from error
        finally:
            self._asked.pop(number, None)

    async def tell(self, method: str) -> None:
        await self._send({"method": method})

    async def reply(self, request: int | str, result: Mapping[str, object]) -> None:
        await self._send({"id": request, "result": result})

    async def _send(self, message: Mapping[str, object]) -> None:
        await self._socket.send(msgspec.json.encode(message).decode())

    def _take(self, text: str) -> None:
        try:
            message = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError) as error:
            raise Unavailable("the other end says what is no JSON") from error
        if not isinstance(message, dict):
            return
        if "method" in message:
            self._told(message)
        elif isinstance(number := message.get("id"), int) and number in self._asked:
            self._answered(self._asked[number], message)

    def _answered(self, waiting: asyncio.Future[Json], message: Json) -> None:
        if waiting.done():
            return
        result = message.get("result")
        if isinstance(result, dict):
            waiting.set_result(result)
        else:
            error = message.get("error")
            words = error.get("message") if isinstance(error, dict) else None
            waiting.set_exception(BadRequest(f"the request was refused: {words or 'without a reason'}"))
