"""Encode and decode JSON with the accelerator of `json` alone, where this interpreter has it.

Importing `json` loads `re` and with it eight more modules: 1.3 MB and a quarter of the bridge's start. The results are
the same, except that a text after the first value, NaN and Infinity are errors. Invariant: decoding raises only
ValueError or RecursionError.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_WHITESPACE = " \t\r\n"


def _reject_constant(name: str) -> "Any":
    raise ValueError(f"{name} is not JSON")


def _reject_value(value: object) -> "Any":
    raise TypeError(f"{type(value).__name__} is not JSON")


class _ScannerSettings:
    """What the accelerator reads from a `JSONDecoder`."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, staticmethod(_reject_constant)


def _load_module() -> "tuple[Any, Any]":
    """Return functions to decode and encode: of the accelerator, or of `json`."""
    try:
        from _json import encode_basestring_ascii, make_encoder, make_scanner

        scan = make_scanner(_ScannerSettings())  # type: ignore[arg-type]
        encoder = make_encoder(None, _reject_value, encode_basestring_ascii, None, ":", ",", False, False, False)
        if scan("[1]", 0) != ([1], 3) or "".join(encoder({"a": 1}, 0)) != '{"a":1}':
            raise TypeError("another accelerator")
    except (ImportError, TypeError):
        # Another interpreter, or a later version of this one.
        import json

        def decode_slowly(text: str) -> "Any":
            return json.loads(text, parse_constant=_reject_constant)

        return decode_slowly, lambda value: json.dumps(value, separators=(",", ":"), allow_nan=False)
    return _build_decoder(scan), lambda value: "".join(encoder(value, 0))


def _build_decoder(scan: "Any") -> "Any":
    def decode(text: str) -> "Any":
        text = text.strip(_WHITESPACE)
        try:
            value, end = scan(text, 0)
        # The accelerator raises JSONDecodeError, but only if `json.decoder` is loaded; else it fails without an error.
        except (StopIteration, SystemError) as error:
            raise ValueError("invalid JSON") from error
        if end != len(text):
            raise ValueError("there is text after the value")
        return value

    return decode


_decode, _encode = _load_module()


def decode_json(data: bytes) -> "Any":
    """Decode UTF-8 JSON. Raises ValueError or RecursionError."""
    return _decode(data.decode())


def encode_json(value: "Any") -> bytes:
    """Encode as compact JSON in ASCII, so that no text can break a line."""
    text: str = _encode(value)
    return text.encode()
