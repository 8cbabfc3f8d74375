"""A model on loopback that says what the prompt tells it to, in the words of four vendors. No account, no network."""

import contextlib
import gzip
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.live.agents.model.anthropic import Anthropic
from tests.live.agents.model.chat import Chat
from tests.live.agents.model.dialect import Dialect, Json
from tests.live.agents.model.gemini import Gemini
from tests.live.agents.model.responses import Responses

_COUNTED = {"input_tokens": 1234, "totalTokens": 1234}
_COMPACTED = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "A short summary."}]}
_MODELS = {"object": "list", "data": [{"id": "scripted-model", "object": "model", "owned_by": "me"}], "models": []}


def dialect_of(path: str) -> Dialect | None:
    if path.endswith("/messages"):
        return Anthropic()
    if path.endswith("/responses"):
        return Responses()
    if path.endswith("/chat/completions"):
        return Chat()
    return Gemini() if "enerateContent" in path else None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Nothing is told: a test's output is its own."""

    def do_HEAD(self) -> None:
        self._answer(200, {})

    def do_GET(self) -> None:
        is_models = self.path.split("?")[0].endswith("/models")
        self._answer(200 if is_models else 404, _MODELS if is_models else {"error": {"message": "not found"}})

    def do_POST(self) -> None:
        request = json.loads(self._body() or b"{}")
        path = self.path.split("?")[0]
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._reply(path, request)

    def _reply(self, path: str, request: Json) -> None:
        if path.endswith(("/count_tokens", ":countTokens")):
            self._answer(200, _COUNTED)
        elif path.endswith("/responses/compact"):
            self._answer(200, {"output": [_COMPACTED]})
        elif dialect := dialect_of(path):
            self._speak(dialect, request, is_streamed=bool(request.get("stream")) or ":stream" in path)
        else:
            self._answer(404, {"error": {"message": f"there is no {path}", "type": "not_found_error"}})

    def _speak(self, dialect: Dialect, request: Json, *, is_streamed: bool) -> None:
        reply = dialect.wanted(request)
        if reply.failure:
            refusal = dialect.refusal(reply)
            self._answer(refusal.status, refusal.body, refusal.headers)
        elif not is_streamed:
            self._answer(200, dialect.whole(request, reply))
        else:
            self._stream(dialect, request)

    def _stream(self, dialect: Dialect, request: Json) -> None:
        self._head(200, {"content-type": "text/event-stream", "connection": "close", **dialect.headers})
        self.close_connection = True
        for frame in dialect.frames(request, dialect.wanted(request)):
            if frame is None:
                self.connection.close()
                return
            if isinstance(frame, float):
                time.sleep(frame)
            else:
                self.wfile.write(frame)
                self.wfile.flush()

    def _answer(self, status: int, body: Json, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(body).encode()
        self._head(status, {"content-type": "application/json", "content-length": str(len(data)), **(headers or {})})
        if self.command != "HEAD":
            self.wfile.write(data)

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _body(self) -> bytes:
        data = self._chunked() if "chunked" in self.headers.get("transfer-encoding", "") else self._sized()
        return gzip.decompress(data) if self.headers.get("content-encoding") == "gzip" else data

    def _sized(self) -> bytes:
        return self.rfile.read(int(self.headers.get("content-length") or 0))

    def _chunked(self) -> bytes:
        data = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            data += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return data


@contextlib.contextmanager
def model_server() -> Iterator[str]:
    """Its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
