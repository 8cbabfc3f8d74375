"""A scripted model on loopback that follows the prompt, with the APIs of four vendors. No account, no network."""

import contextlib
import gzip
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.live.agents.model.anthropic import AnthropicApi
from tests.live.agents.model.gemini import GeminiApi
from tests.live.agents.model.openai_chat import TEXT_MODEL, ChatCompletionsApi
from tests.live.agents.model.openai_responses import ResponsesApi
from tests.live.agents.model.vendor_api import Json, VendorApi

_TOKEN_COUNT = {"input_tokens": 1234, "totalTokens": 1234}
_COMPACTION = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "A short summary."}]}
_MODEL_LIST = {"object": "list", "data": [{"id": "scripted-model", "object": "model", "owned_by": "me"}], "models": []}


@dataclass
class ModelExchange:
    """One request of an agent's conversation and what became of its reply. Times are of the wall clock, in ns."""

    text: str
    """The request, as JSON."""
    asked_at: int
    answered_at: int = 0
    """When the reply was sent completely; 0 until then."""
    aborted_at: int = 0
    """When the agent was found to have closed the connection."""


def select_api(path: str) -> VendorApi | None:
    if path.endswith("/messages"):
        return AnthropicApi()
    if path.endswith("/responses"):
        return ResponsesApi()
    if path.endswith("/chat/completions"):
        return ChatCompletionsApi()
    return GeminiApi() if "enerateContent" in path else None


class ModelServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), ModelRequestHandler)
        self.exchanges: list[ModelExchange] = []
        self.side_exchanges: list[ModelExchange] = []
        """Requests without tools: titles and summaries, which are not part of the conversation."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class ModelRequestHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ModelServer

    def log_message(self, *_: object) -> None:
        """Log nothing, to keep the test output clean."""

    def do_HEAD(self) -> None:
        self._send_json(200, {})

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        if path.endswith("/models"):
            self._send_json(200, _MODEL_LIST)
        elif path == "/api.json":  # opencode's list of vendors, without which older versions do not start
            self._send_json(200, {})
        else:
            self._send_json(404, {"error": {"message": "not found"}})

    def do_POST(self) -> None:
        request = json.loads(self._read_body() or b"{}")
        path = self.path.split("?")[0]
        exchange = ModelExchange(json.dumps(request), time.time_ns())
        is_conversation = request.get("tools") or request.get("model") == TEXT_MODEL
        (self.server.exchanges if is_conversation else self.server.side_exchanges).append(exchange)
        try:
            self._route_request(path, request)
            exchange.answered_at = time.time_ns()
        except (BrokenPipeError, ConnectionResetError):
            exchange.aborted_at = time.time_ns()

    def _route_request(self, path: str, request: Json) -> None:
        if path.endswith(("/count_tokens", ":countTokens")):
            self._send_json(200, _TOKEN_COUNT)
        elif path.endswith("/responses/compact"):
            self._send_json(200, {"output": [_COMPACTION]})
        elif dialect := select_api(path):
            self._send_reply(dialect, request, is_streamed=bool(request.get("stream")) or ":stream" in path)
        else:
            self._send_json(404, {"error": {"message": f"there is no {path}", "type": "not_found_error"}})

    def _send_reply(self, dialect: VendorApi, request: Json, *, is_streamed: bool) -> None:
        reply = dialect.choose_reply(request)
        if reply.failure:
            refusal = dialect.build_error(reply)
            self._send_json(refusal.status, refusal.body, refusal.headers)
        elif not is_streamed:
            time.sleep(sum(pause for pause, _ in reply.pieces))
            self._send_json(200, dialect.build_response(request, reply))
        else:
            self._stream_reply(dialect, request)

    def _stream_reply(self, dialect: VendorApi, request: Json) -> None:
        self._send_headers(200, {"content-type": "text/event-stream", "connection": "close", **dialect.headers})
        self.close_connection = True
        for frame in dialect.stream_frames(request, dialect.choose_reply(request)):
            if frame is None:
                self.connection.close()
                return
            if isinstance(frame, float):
                time.sleep(frame)
            else:
                self.wfile.write(frame)
                self.wfile.flush()

    def _send_json(self, status: int, body: Json, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(body).encode()
        self._send_headers(
            status, {"content-type": "application/json", "content-length": str(len(data)), **(headers or {})}
        )
        if self.command != "HEAD":
            self.wfile.write(data)

    def _send_headers(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _read_body(self) -> bytes:
        data = (
            self._read_chunked_body()
            if "chunked" in self.headers.get("transfer-encoding", "")
            else self._read_sized_body()
        )
        return gzip.decompress(data) if self.headers.get("content-encoding") == "gzip" else data

    def _read_sized_body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("content-length") or 0))

    def _read_chunked_body(self) -> bytes:
        data = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            data += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return data


@contextlib.contextmanager
def run_model_server() -> Iterator[str]:
    """Run the server and yield its address."""
    with open_model_server() as server:
        yield server.address


@contextlib.contextmanager
def open_model_server() -> Iterator[ModelServer]:
    """Run the server and yield it, with the exchanges that it had."""
    server = ModelServer()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
