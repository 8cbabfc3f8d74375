"""The codec without the module `json`; any value is compared with that module in tests/property."""

import sys

import pytest

from termvisor.frontends.mcp.json_codec import decode_json, encode_json
from termvisor.system.subprocesses import run_and_capture


def test_values_survive_as_one_line_of_ascii() -> None:
    value = {"a": [1, -2.5, None, True, "é\n\u2028\ud800"], "b": {}}
    assert encode_json(value).isascii()
    assert b"\n" not in encode_json(value)
    assert decode_json(encode_json(value)) == value


@pytest.mark.parametrize("data", [b"", b" ", b"{", b"[1] 2", b"nan", b"NaN", b"[Infinity]", b"\xff", b'"\n"', b"'a'"])
def test_what_is_no_json_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        decode_json(data)


def test_errors_need_no_other_module() -> None:
    imported = "from termvisor.frontends.mcp.json_codec import decode_json\n"
    code = imported + "try:\n    decode_json(b'{{')\nexcept ValueError:\n    print(1)"
    assert run_and_capture([sys.executable, "-c", code], timeout_s=30)[1] == b"1\n"


def test_nesting_without_end_is_refused() -> None:
    with pytest.raises(RecursionError):
        decode_json(b"[" * 200_000)


def test_what_json_cannot_express_is_refused() -> None:
    with pytest.raises((ValueError, TypeError)):
        encode_json(float("nan"))
    with pytest.raises(TypeError):
        encode_json({1, 2})
