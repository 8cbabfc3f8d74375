"""JSON-RPC messages and errors."""

import msgspec
import pytest

from termvisor import errors
from termvisor.protocol import command_protocol, jsonrpc


def test_a_request_survives_encoding() -> None:
    request = jsonrpc.RpcRequest("get_text", {"pane": "7", "tail": 20}, 3)
    line = jsonrpc.encode_message(request)
    assert msgspec.json.decode(line)["jsonrpc"] == "2.0"
    assert jsonrpc.parse_request(line.rstrip()) == request


@pytest.mark.parametrize(
    ("line", "number", "to"),
    [
        (b"{nonsense", jsonrpc.PARSE_ERROR, None),
        (b"", jsonrpc.PARSE_ERROR, None),
        (b'{"method":"\xff"}', jsonrpc.PARSE_ERROR, None),
        (b"[" * 100_000, jsonrpc.INVALID_REQUEST, None),
        (b"[]", jsonrpc.INVALID_REQUEST, None),
        (b"42", jsonrpc.INVALID_REQUEST, None),
        (b'{"id":5}', jsonrpc.INVALID_REQUEST, 5),
        (b'{"id":6,"method":"x","params":[1]}', jsonrpc.INVALID_REQUEST, 6),
        (b'{"id":{},"method":"x"}', jsonrpc.INVALID_REQUEST, None),
        (b'{"id":7,"method":"x","jsonrpc":"1.0"}', jsonrpc.INVALID_REQUEST, 7),
    ],
)
def test_an_invalid_request_gets_an_error_response(line: bytes, number: int, to: jsonrpc.RequestId) -> None:
    answer = jsonrpc.parse_request(line)
    assert isinstance(answer, jsonrpc.RpcResponse)
    assert isinstance(answer.error, jsonrpc.RpcError)
    assert (answer.error.code, answer.id) == (number, to)


@pytest.mark.parametrize("kind", errors.list_error_classes(), ids=lambda kind: kind.__name__)
def test_every_error_is_raised_again_on_the_other_side(kind: type[errors.VisorError]) -> None:
    sent = jsonrpc.encode_message(
        jsonrpc.build_error_response(1, kind("what happened", hint="do this", details={"pane": 7}))
    )
    fault = jsonrpc.parse_incoming(sent).error
    assert fault is not None
    error = jsonrpc.to_visor_error(fault)
    assert (error.code, error.message, error.hint) == (kind.code, "what happened", "do this")
    assert error.details == {"pane": 7}


def test_an_unknown_error_code_becomes_a_visor_error() -> None:
    assert isinstance(jsonrpc.to_visor_error(jsonrpc.RpcError(-32603, "boom")), errors.VisorError)


def test_an_invalid_response_raises_unavailable() -> None:
    with pytest.raises(errors.Unavailable):
        jsonrpc.parse_incoming(b"<html>")


def test_another_protocol_version_is_rejected() -> None:
    jsonrpc.check_protocol(command_protocol.PROTOCOL_VERSION, command_protocol.PROTOCOL_VERSION)
    with pytest.raises(errors.Unsupported, match="daemon is older"):
        jsonrpc.check_protocol(command_protocol.PROTOCOL_VERSION + 1, command_protocol.PROTOCOL_VERSION)
