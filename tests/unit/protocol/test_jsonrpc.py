"""JSON-RPC as we speak it."""

import msgspec
import pytest

from termvisor import errors
from termvisor.protocol import command_protocol as face
from termvisor.protocol import jsonrpc as rpc


def test_a_request_survives_the_wire() -> None:
    request = rpc.Request("get_text", {"pane": "7", "tail": 20}, 3)
    line = rpc.encode(request)
    assert msgspec.json.decode(line)["jsonrpc"] == "2.0"
    assert rpc.parse_request(line.rstrip()) == request


@pytest.mark.parametrize(
    ("line", "number", "to"),
    [
        (b"{nonsense", rpc.PARSE_ERROR, None),
        (b"", rpc.PARSE_ERROR, None),
        (b'{"method":"\xff"}', rpc.PARSE_ERROR, None),
        (b"[" * 100_000, rpc.INVALID_REQUEST, None),
        (b"[]", rpc.INVALID_REQUEST, None),
        (b"42", rpc.INVALID_REQUEST, None),
        (b'{"id":5}', rpc.INVALID_REQUEST, 5),
        (b'{"id":6,"method":"x","params":[1]}', rpc.INVALID_REQUEST, 6),
        (b'{"id":{},"method":"x"}', rpc.INVALID_REQUEST, None),
        (b'{"id":7,"method":"x","jsonrpc":"1.0"}', rpc.INVALID_REQUEST, 7),
    ],
)
def test_what_is_no_request_gets_an_answer_that_says_so(line: bytes, number: int, to: rpc.Id) -> None:
    answer = rpc.parse_request(line)
    assert isinstance(answer, rpc.Answer)
    assert isinstance(answer.error, rpc.Fault)
    assert (answer.error.code, answer.id) == (number, to)


@pytest.mark.parametrize("kind", errors.all_errors(), ids=lambda kind: kind.__name__)
def test_every_error_is_raised_again_on_the_other_side(kind: type[errors.VisorError]) -> None:
    sent = rpc.encode(rpc.failed(1, kind("what happened", hint="do this", details={"pane": 7})))
    fault = rpc.parse_incoming(sent).error
    assert fault is not None
    error = rpc.raised(fault)
    assert (error.code, error.message, error.hint) == (kind.code, "what happened", "do this")
    assert error.details == {"pane": 7}


def test_a_fault_of_a_stranger_is_still_an_error() -> None:
    assert isinstance(rpc.raised(rpc.Fault(-32603, "boom")), errors.VisorError)


def test_an_answer_that_makes_no_sense_is_the_daemons_fault() -> None:
    with pytest.raises(errors.Unavailable):
        rpc.parse_incoming(b"<html>")


def test_only_the_same_protocol_is_spoken() -> None:
    rpc.check_protocol(face.PROTOCOL, face.PROTOCOL)
    with pytest.raises(errors.Unsupported, match="daemon is older"):
        rpc.check_protocol(face.PROTOCOL + 1, face.PROTOCOL)
