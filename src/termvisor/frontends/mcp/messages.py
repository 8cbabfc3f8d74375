"""Parse and build the JSON-RPC messages of MCP in both of its eras.

Clients of 2026-07-28 name the version in every request; older ones agree on it once, with `initialize`.
"""

from termvisor.frontends.mcp.json_codec import decode_json, encode_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MODERN_VERSION = "2026-07-28"
LEGACY_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Newest first. The messages that we use are the same in all of them."""
META = "io.modelcontextprotocol/"
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603
LEGACY_RESOURCE_NOT_FOUND, UNSUPPORTED_VERSION = -32002, -32022
MAX_LINE_BYTES = 16 << 20


class McpError(Exception):
    """An error that the protocol itself defines; errors of tools are results."""

    def __init__(self, code: int, message: str, data: "dict[str, Any] | None" = None):
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


class McpRequest:
    """One request or, without an id, one notification. ``meta`` is its `_meta`."""

    __slots__ = ("id", "is_modern", "is_notification", "meta", "method", "params")

    def __init__(self, request_id: "str | int | None", method: str, params: "dict[str, Any]", is_notification: bool):
        self.id, self.method, self.params, self.is_notification = request_id, method, params, is_notification
        meta = params.get("_meta")
        self.meta: dict[str, Any] = meta if isinstance(meta, dict) else {}
        self.is_modern = f"{META}protocolVersion" in self.meta or method == "server/discover"

    @property
    def progress_token(self) -> "str | int | None":
        token = self.meta.get("progressToken")
        return token if isinstance(token, str | int) and not isinstance(token, bool) else None


def parse_message(line: bytes) -> "McpRequest | None":
    """Parse a line; None for a response, which nothing here waits for. Raises McpError."""
    try:
        message = decode_json(line)
    except (ValueError, RecursionError) as error:
        raise McpError(PARSE_ERROR, "invalid JSON") from error
    return read_message(message)


def read_message(message: object) -> "McpRequest | None":
    """Return the request in a decoded message; None for a response. Raises McpError."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise McpError(INVALID_REQUEST, "not a JSON-RPC 2.0 message")
    if "method" not in message and ("result" in message or "error" in message):
        return None
    method, params = message.get("method"), message.get("params", {})
    if not isinstance(method, str):
        raise McpError(INVALID_REQUEST, "method must be a string")
    if "id" in message and not is_request_id(message["id"]):
        raise McpError(INVALID_REQUEST, "id must be a string or an integer")
    if not isinstance(params, dict):
        raise McpError(INVALID_PARAMS, "params must be an object", {"id": message.get("id")})
    return McpRequest(message.get("id"), method, params, "id" not in message)


def is_request_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def build_result(request: McpRequest, result: "dict[str, Any]", server: "dict[str, str]") -> "dict[str, Any]":
    """Build the response to a request, in its era."""
    if request.is_modern:
        meta = {f"{META}serverInfo": server} | result.get("_meta", {})
        result = {"resultType": "complete", **result, "_meta": meta}
    return {"jsonrpc": "2.0", "id": request.id, "result": result}


def build_error(request_id: "str | int | None", error: McpError) -> "dict[str, Any]":
    body: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    return {"jsonrpc": "2.0", "id": request_id, "error": body}


def build_notification(method: str, params: "dict[str, Any]") -> "dict[str, Any]":
    return {"jsonrpc": "2.0", "method": method, "params": params}


def encode_line(message: "dict[str, Any]") -> bytes:
    """Encode a message as one line; text that is no valid Unicode is replaced."""
    # ASCII only, so that lone surrogates and line separators cannot break a client's line reader.
    return encode_json(message) + b"\n"
