"""JSON-RPC 2.0, one message a line: what a request, an answer, an item of a stream and a fault look like.

Our own error code, hint and details travel in ``error.data``; the integer beside them is what JSON-RPC asks for.
"""

from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from termvisor import errors
from termvisor.errors import Detail, VisorError
from termvisor.protocol import command_protocol as face

PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, INTERNAL, OURS = -32700, -32600, -32601, -32602, -32603, -32000
Id = int | str | None


class Request(Struct, frozen=True):
    """Without ``id`` it is a notification: done, not answered."""

    method: str
    params: dict[str, Any] = {}
    id: Id | UnsetType = UNSET
    jsonrpc: Literal["2.0"] = "2.0"


class Trouble(Struct, frozen=True):
    """Our error as it travels."""

    code: str
    hint: str = ""
    details: dict[str, Detail] = {}
    exit_status: int = 70


class Fault(Struct, frozen=True):
    code: int
    message: str
    data: Trouble | None = None


class Answer(Struct, frozen=True):
    id: Id
    result: Any = UNSET
    error: Fault | UnsetType = UNSET
    jsonrpc: Literal["2.0"] = "2.0"


class Item(Struct, frozen=True):
    """One item of the stream that request ``id`` opened."""

    id: Id
    item: Any


class Notification(Struct, frozen=True):
    params: Item
    method: Literal["item"] = "item"
    jsonrpc: Literal["2.0"] = "2.0"


class Incoming(Struct, frozen=True):
    """Whatever a client hears: an answer, or an item when ``method`` is set."""

    id: Id = None
    result: Any = None
    error: Fault | None = None
    method: str = ""
    params: Item | None = None


class Hello(Struct, frozen=True):
    """What the daemon says of itself. ``streams`` are the methods that answer with items before their result."""

    version: str
    protocol: int
    pid: int
    streams: tuple[str, ...] = ()


_parse_request = msgspec.json.Decoder(Request).decode
_parse_incoming = msgspec.json.Decoder(Incoming).decode
_encode = msgspec.json.Encoder().encode


def encode(message: Request | Answer | Notification) -> bytes:
    return _encode(message) + b"\n"


def parse_request(line: bytes) -> Request | Answer:
    """The request in a line, or the answer that says why it is none."""
    try:
        return _parse_request(line)
    except msgspec.ValidationError as error:
        return failed(_id_of(line), errors.BadRequest(f"not a JSON-RPC request: {error}"), INVALID_REQUEST)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return failed(None, errors.BadRequest(f"not JSON: {error}"), PARSE_ERROR)


def parse_incoming(line: bytes) -> Incoming:
    try:
        return _parse_incoming(line)
    except msgspec.DecodeError as error:
        raise errors.Unavailable(f"the daemon's answer makes no sense: {error}", hint=RESTART) from error


def failed(to: Id, error: VisorError, number: int | None = None) -> Answer:
    trouble = Trouble(error.code, error.hint, error.details, error.exit_status)
    return Answer(to, error=Fault(_number(error) if number is None else number, error.message, trouble))


def raised(fault: Fault) -> VisorError:
    """The error again, on the caller's side."""
    trouble = fault.data or Trouble("internal")
    kind = _BY_CODE.get(trouble.code, errors.Broken)
    return kind(fault.message, hint=trouble.hint or None, details=trouble.details)


def check_protocol(client: int, daemon: int) -> None:
    if client != daemon:
        raise errors.Unsupported(face.mismatch(client, daemon), hint=face.mismatch_hint(client, daemon))


RESTART = "Restart it with `visor daemon restart`."
_BY_CODE = {cls.code: cls for cls in reversed(errors.all_errors())}


def _number(error: VisorError) -> int:
    if isinstance(error, errors.UnknownCommand):
        return NO_METHOD
    if isinstance(error, errors.BadRequest):
        return INVALID_PARAMS
    return INTERNAL if error.code == VisorError.code else OURS


class _OnlyId(Struct, frozen=True):
    id: Id = None


def _id_of(line: bytes) -> Id:
    try:
        return msgspec.json.decode(line, type=_OnlyId).id
    except msgspec.DecodeError:
        return None
