"""JSON-RPC 2.0, one message a line: what a request, an answer, an item of a stream and a fault look like.

Our own error code, hint and details travel in ``error.data``; the integer beside them is what JSON-RPC asks for.
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
    """Without ``id`` it is a notification: done, not answered."""

    method: str
    params: dict[str, Any] = {}
    id: RequestId | UnsetType = UNSET
    jsonrpc: Literal["2.0"] = "2.0"


class RpcErrorData(Struct, frozen=True):
    """Our error as it travels."""

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
    """One item of the stream that request ``id`` opened."""

    id: RequestId
    item: Any


class StreamNotification(Struct, frozen=True):
    params: StreamItem
    method: Literal["item"] = "item"
    jsonrpc: Literal["2.0"] = "2.0"


class IncomingMessage(Struct, frozen=True):
    """Whatever a client hears: an answer, or an item when ``method`` is set."""

    id: RequestId = None
    result: Any = None
    error: RpcError | None = None
    method: str = ""
    params: StreamItem | None = None


class DaemonHello(Struct, frozen=True):
    """What the daemon says of itself. ``streams`` are the methods that answer with items before their result."""

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
    """The request in a line, or the answer that says why it is none."""
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
    except msgspec.DecodeError as error:
        raise errors.Unavailable(f"the daemon's answer makes no sense: {error}", hint=RESTART_HINT) from error


def build_error_response(request_id: RequestId, error: VisorError, rpc_code: int | None = None) -> RpcResponse:
    trouble = RpcErrorData(error.code, error.hint, error.details, error.exit_status)
    return RpcResponse(
        request_id, error=RpcError(_choose_rpc_code(error) if rpc_code is None else rpc_code, error.message, trouble)
    )


def to_visor_error(error: RpcError) -> VisorError:
    """The error again, on the caller's side."""
    trouble = error.data or RpcErrorData("internal")
    kind = _ERRORS_BY_CODE.get(trouble.code, errors.InternalError)
    return kind(error.message, hint=trouble.hint or None, details=trouble.details)


def check_protocol(client: int, daemon: int) -> None:
    if client != daemon:
        raise errors.Unsupported(
            command_protocol.describe_mismatch(client, daemon),
            hint=command_protocol.build_mismatch_hint(client, daemon),
        )


RESTART_HINT = "Restart it with `visor daemon restart`."
_ERRORS_BY_CODE = {cls.code: cls for cls in reversed(errors.list_error_classes())}


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
        return None
