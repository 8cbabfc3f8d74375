"""A fake Codex app-server: answers from a table and sends the messages of a test."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from termvisor.agents.adapters.codex.server_client.server import SOCKET_PATH
from tests.unit.agents.adapters.codex.server_client.test_websocket import (
    accept_handshake,
    encode_server_frame,
    receive_client_frame,
)

TEXT_OPCODE = 1


class FakeAppServer:
    def __init__(self) -> None:
        self.answers: dict[str, object] = {
            "initialize": {"userAgent": "codex-tui/0.166.0"},
            "thread/list": {"data": []},
            "thread/loaded/list": {"data": []},
            "thread/turns/list": {"data": []},
        }
        self.received_messages: list[dict] = []
        self.writers: list[asyncio.StreamWriter] = []
        self.message_received = asyncio.Condition()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await accept_handshake(reader, writer)
        self.writers.append(writer)
        try:
            while (frame := await receive_client_frame(reader)).opcode == TEXT_OPCODE:
                await self._process_message(json.loads(frame.data), writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.writers.remove(writer)
            writer.close()

    async def _process_message(self, message: dict, writer: asyncio.StreamWriter) -> None:
        async with self.message_received:
            self.received_messages.append(message)
            self.message_received.notify_all()
        if "method" in message and "id" in message:
            self._send_answer(message, writer)

    def _send_answer(self, message: dict, writer: asyncio.StreamWriter) -> None:
        answer = self.answers.get(message["method"], ValueError("unknown method"))
        refused = {"code": -32600, "message": str(answer)}
        result = {"error": refused} if isinstance(answer, Exception) else {"result": answer}
        if answer is not None:
            writer.write(encode_server_frame(TEXT_OPCODE, json.dumps({"id": message["id"], **result}).encode()))

    def send_message(self, message: dict) -> None:
        for writer in self.writers:
            writer.write(encode_server_frame(TEXT_OPCODE, json.dumps(message).encode()))

    def close_connections(self) -> None:
        for writer in self.writers:
            writer.close()

    async def wait_for_request(self, method: str, times: int = 1) -> dict:
        async with self.message_received:
            await self.message_received.wait_for(lambda: len(self._filter_messages(method)) >= times)
        return self._filter_messages(method)[-1]

    def _filter_messages(self, method: str) -> list[dict]:
        return [one for one in self.received_messages if one.get("method") == method]


@asynccontextmanager
async def run_fake_app_server(home: str, *, is_settled: bool = True) -> AsyncIterator[FakeAppServer]:
    """Run a server in `home`; with `is_settled` its socket looks old."""
    path = os.path.join(home, SOCKET_PATH)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    server = FakeAppServer()
    async with await asyncio.start_unix_server(server.serve, path):
        if is_settled:
            os.utime(path, (1, 1))
        yield server
        server.close_connections()
