"""A client of one session with a backend that answers when a test says so."""

import json
from collections.abc import Callable
from typing import Any

from termvisor.frontends.mcp.messages import META, MODERN_VERSION
from termvisor.frontends.mcp.session import McpSession
from termvisor.frontends.mcp.tool_list import load_tool_list

MODERN = {f"{META}protocolVersion": MODERN_VERSION, f"{META}clientCapabilities": {}}


class FakeBackend:
    """Keeps calls until `answer`; `change` reports changed resources to whom it may concern."""

    def __init__(self) -> None:
        self.calls: dict[int, tuple[dict[str, Any], Callable[..., None]]] = {}
        self.cancelled: list[int] = []
        self.change: Callable[[list[str] | None], None] | None = None

    def call(self, method: str, params: dict[str, Any], on_answer: Callable[..., None]) -> int:
        assert method == "call_tool"
        self.calls[len(self.calls)] = (params, on_answer)
        return len(self.calls) - 1

    def cancel(self, call_id: int) -> None:
        self.cancelled.append(call_id)

    def watch(self, on_changed: Callable[[list[str] | None], None] | None) -> None:
        self.change = on_changed

    @property
    def last_call(self) -> dict[str, Any]:
        return self.calls[len(self.calls) - 1][0]

    def answer(self, text: str = "", error: dict[str, Any] | None = None, **more: Any) -> None:
        """Answer the newest call."""
        on_answer = self.calls[len(self.calls) - 1][1]
        on_answer(None if error else {"text": text, **more}, error)


class McpClient:
    """Sends requests and collects what the session sends; ``now`` is its clock."""

    def __init__(self, tools: str = "core", *, is_modern: bool = False):
        self.sent: list[dict[str, Any]] = []
        self.backend, self.now, self.is_modern = FakeBackend(), 0.0, is_modern
        self._last_id = 0
        self.session = McpSession(load_tool_list(tools.split(",")), self.backend, self._receive, lambda: self.now)

    def send(self, method: str, *, meta: dict[str, Any] | None = None, **params: Any) -> int:
        """Send a request and return its id."""
        self._last_id += 1
        self._write({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": self._add_meta(params, meta)})
        return self._last_id

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request that is answered at once, and return its result or its error."""
        request_id = self.send(method, **params)
        response = self.sent[-1]
        assert response["id"] == request_id
        return response["result"] if "result" in response else response["error"]

    def notify(self, method: str, **params: Any) -> None:
        self._write({"jsonrpc": "2.0", "method": method, "params": params})

    def call(self, tool: str, *, meta: dict[str, Any] | None = None, **arguments: Any) -> int:
        return self.send("tools/call", meta=meta, name=tool, arguments=arguments)

    def write_line(self, line: bytes) -> list[dict[str, Any]]:
        """Send a raw line and return what came back."""
        before = len(self.sent)
        self.session.handle_line(line)
        return self.sent[before:]

    @property
    def last_text(self) -> str:
        return "".join(block["text"] for block in self.sent[-1]["result"]["content"])

    def _add_meta(self, params: dict[str, Any], meta: dict[str, Any] | None) -> dict[str, Any]:
        meta = (MODERN if self.is_modern else {}) | (meta or {})
        return params | ({"_meta": meta} if meta else {})

    def _write(self, message: dict[str, Any]) -> None:
        self.session.handle_line(json.dumps(message).encode())

    def _receive(self, message: dict[str, Any]) -> None:
        self.sent.append(json.loads(json.dumps(message)))
