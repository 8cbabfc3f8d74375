"""JSON-RPC 2.0 messages, one per line: requests, responses, stream items and errors.

``error.data`` carries the code, hint and details of a VisorError; ``error.code`` is the JSON-RPC integer code.
"""

from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from termvisor import errors
from termvisor.errors import ErrorDetail, VisorError
from termvisor.protocol import command_protocol

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR, SERVER_ERROR = (
    -32700,
    -32600,
    -32601,
    -32602,
    -32603,
    -32000,
)
RequestId = int | str | None


class RpcRequest(Struct, frozen=True):
    """A request. Without ``id`` it is a notification, which gets no response."""

    method: str
    params: dict[str, Any] = {}
    id: RequestId | UnsetType = UNSET
    jsonrpc: Literal["2.0"] = "2.0"


class RpcErrorData(Struct, frozen=True):
    """A VisorError on the wire."""

    code: str
    hint: str = ""
    details: dict[str, ErrorDetail] = {}
    exit_status: int = 70


class RpcError(Struct, frozen=True):
    code: int
    message: str
    data: RpcErrorData | None = None


class RpcResponse(Struct, frozen=True):
    id: RequestId
    result: Any = UNSET
    error: RpcError | UnsetType = UNSET
    jsonrpc: Literal["2.0"] = "2.0"


class StreamItem(Struct, frozen=True):
    """One item of the stream opened by request ``id``."""

    id: RequestId
    item: Any


class StreamNotification(Struct, frozen=True):
    params: StreamItem
    method: Literal["item"] = "item"
    jsonrpc: Literal["2.0"] = "2.0"


class IncomingMessage(Struct, frozen=True):
    """A message to a client: a response, or a stream item if ``method`` is set."""

    id: RequestId = None
    result: Any = None
    error: RpcError | None = None
    method: str = ""
    params: StreamItem | None = None


class DaemonHello(Struct, frozen=True):
    """The daemon's answer to `hello`. ``streams`` lists the methods that send items before their result."""

    version: str
    protocol: int
    pid: int
    streams: tuple[str, ...] = ()


_decode_request = msgspec.json.Decoder(RpcRequest).decode
_decode_incoming = msgspec.json.Decoder(IncomingMessage).decode
_encode_json = msgspec.json.Encoder().encode


def encode_message(message: RpcRequest | RpcResponse | StreamNotification) -> bytes:
    return _encode_json(message) + b"\n"


def parse_request(line: bytes) -> RpcRequest | RpcResponse:
    """Parse a request line; return an error response if it is invalid."""
    try:
        return _decode_request(line)
    except msgspec.ValidationError as error:
        return build_error_response(
            _read_id(line), errors.BadRequest(f"not a JSON-RPC request: {error}"), INVALID_REQUEST
        )
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return build_error_response(None, errors.BadRequest(f"not JSON: {error}"), PARSE_ERROR)


def parse_incoming(line: bytes) -> IncomingMessage:
    try:
        return _decode_incoming(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise errors.Unavailable(f"invalid answer from the daemon: {error}", hint=RESTART_HINT) from error


def build_error_response(request_id: RequestId, error: VisorError, rpc_code: int | None = None) -> RpcResponse:
    data = RpcErrorData(error.code, error.hint, error.details, error.exit_status)
    code = _choose_rpc_code(error) if rpc_code is None else rpc_code
    return RpcResponse(request_id, error=RpcError(code, error.message, data))


def to_visor_error(error: RpcError) -> VisorError:
    """Rebuild the exception on the client side."""
    data = error.data or RpcErrorData("internal")
    return errors.find_error_class(data.code)(error.message, hint=data.hint or None, details=data.details)


def check_protocol(client: int, daemon: int) -> None:
    if client != daemon:
        raise errors.Unsupported(
            command_protocol.describe_mismatch(client, daemon),
            hint=command_protocol.build_mismatch_hint(client, daemon),
        )


RESTART_HINT = "Restart it with `visor daemon restart`."


def _choose_rpc_code(error: VisorError) -> int:
    if isinstance(error, errors.UnknownCommand):
        return METHOD_NOT_FOUND
    if isinstance(error, errors.BadRequest):
        return INVALID_PARAMS
    return INTERNAL_ERROR if error.code == VisorError.code else SERVER_ERROR


class _IdOnly(Struct, frozen=True):
    id: RequestId = None


def _read_id(line: bytes) -> RequestId:
    try:
        return msgspec.json.decode(line, type=_IdOnly).id
    except msgspec.DecodeError:
        # JSON-RPC requires the id null in the response to a request whose id cannot be read.
        return None
