"""HTTP transport for the conformance suite: `python -m tests.live.mcp.conformance_server` prints its address.

A test-only transport on the session of the bridge: one session per request, as the newer era wants it; older clients
get an id that no state hangs on.
"""

import json
import queue
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

from termvisor.frontends.mcp.messages import META, McpError, McpRequest, build_error, read_message
from tests.live.mcp.conformance_fixtures import FixtureSession

Json = dict[str, Any]
_HEADER_MISMATCH = -32020
_STATUS_BY_CODE = {-32601: 404, -32600: 400, -32602: 400, -32700: 400, _HEADER_MISMATCH: 400, -32021: 400, -32022: 400}
_CLIENT_ANSWERS: dict[str, "queue.Queue[Json]"] = {}
_numbers = count(1)
_NAME_FIELDS = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


class ConformanceHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def do_GET(self) -> None:
        self._send_json(405, None)

    def do_DELETE(self) -> None:
        self._send_json(200, None)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if not self._is_local():
            self._send_json(403, build_error(None, McpError(-32600, "foreign host or origin")))
            return
        try:
            message = json.loads(body)
        except ValueError:
            self._send_json(400, build_error(None, McpError(-32700, "invalid JSON")))
            return
        try:
            request = read_message(message)
        except McpError as error:
            self._send_json(400, build_error(None, error))
            return
        if request is None:
            _CLIENT_ANSWERS[str(message["id"])].put(message)
            self._send_json(202, None)
        elif request.is_notification:
            self._send_json(202, None)
        elif request.is_modern and (problem := self._find_header_problem(request)):
            self._send_json(400, build_error(request.id, McpError(_HEADER_MISMATCH, problem)))
        else:
            self._answer(request)

    def _is_local(self) -> bool:
        names = ("127.0.0.1", "localhost", "[::1]")
        host = (self.headers.get("host") or "").rpartition(":")[0] or self.headers.get("host")
        origin = self.headers.get("origin")
        is_own = (
            origin is None
            or origin.partition("://")[2].rpartition(":")[0] in names
            or origin.partition("://")[2] in names
        )
        return host in names and is_own

    def _find_header_problem(self, request: McpRequest) -> str:
        wanted = {"mcp-protocol-version": request.meta.get(f"{META}protocolVersion"), "mcp-method": request.method}
        if field := _NAME_FIELDS.get(request.method):
            wanted["mcp-name"] = request.params.get(field)
        for name, value in wanted.items():
            if value is not None and self.headers.get(name) != value:
                return f"the header {name} does not match the body"
        return ""

    def _answer(self, request: McpRequest) -> None:
        self._is_streaming, self._is_answered, self._lock = False, False, threading.Lock()
        session = FixtureSession(lambda message: self._deliver(request, message), self._ask_client)
        session.handle_request(request)
        # A subscription stays open until the client leaves.
        while not self._is_answered and request.method == "subscriptions/listen":
            threading.Event().wait(0.2)
            self._write(b": still here\n\n")
        if self._is_streaming:
            self._write_chunk(b"")

    def _deliver(self, request: McpRequest, message: Json) -> None:
        self._is_answered = message.get("id") == request.id and "method" not in message
        if self._is_answered and not self._is_streaming:
            code = message.get("error", {}).get("code", 0)
            status = _STATUS_BY_CODE.get(code, 200) if request.is_modern else 200
            self._send_json(status, message, {"mcp-session-id": "fixture"} if request.method == "initialize" else {})
            return
        if not self._is_streaming:
            self._is_streaming = True
            self._send_headers(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked"})
        self._write(f"event: message\ndata: {json.dumps(message)}\n\n".encode())

    def _ask_client(self, body: Json) -> Json:
        number = f"server-{next(_numbers)}"
        answers = _CLIENT_ANSWERS[number] = queue.Queue()
        if not self._is_streaming:
            self._is_streaming = True
            self._send_headers(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked"})
        self._write(f"event: message\ndata: {json.dumps({'jsonrpc': '2.0', 'id': number, **body})}\n\n".encode())
        return dict(answers.get(timeout=20).get("result") or {})

    def _write(self, data: bytes) -> None:
        with self._lock:
            self._write_chunk(data)

    def _write_chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _send_json(self, status: int, body: Json | None, headers: dict[str, str] = {}) -> None:  # noqa: B006
        data = b"" if body is None else json.dumps(body).encode()
        kind = {"content-type": "application/json"} if data else {}
        self._send_headers(status, {**kind, "content-length": str(len(data)), **headers})
        self.wfile.write(data)

    def _send_headers(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


class ConformanceServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Ignore clients that leave."""


def main() -> None:
    server = ConformanceServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0), ConformanceHandler)
    print(f"http://127.0.0.1:{server.server_port}/mcp", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
