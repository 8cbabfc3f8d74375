import pytest

from termvisor.ops.history._raw_redaction import RawOutputRedactor

KEY = b"ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"


def _redact_all(data: bytes, step: int = 1 << 20) -> bytes:
    masking = RawOutputRedactor()
    pieces = [masking.feed(data[start : start + step]) for start in range(0, len(data), step)]
    return b"".join([*pieces, masking.finish()])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no newline",
        b"plain\r\n\x1b[31mred\x1b[0m\r\n\r\n",
        b"\xff\xfe not utf-8 \x80\n",
        "日本語\n".encode(),
        b"\x1b]0;title\x07$ \x1b[?2004h",
        b"x" * 200_000 + b"\n",
    ],
)
def test_lines_without_secrets_are_unchanged(data: bytes) -> None:
    assert _redact_all(data) == data


@pytest.mark.parametrize("step", [1, 3, 7, 64])
def test_a_secret_is_found_at_any_chunk_border(step: int) -> None:
    out = _redact_all(b"before\r\nexport T=" + KEY + b"; ls\r\n\x1b[1mafter\x1b[0m\r\n", step)
    assert KEY not in out
    assert out.startswith(b"before\r\n")
    assert out.endswith(b"\x1b[1mafter\x1b[0m\r\n")


def test_a_secret_in_changing_colours_is_found() -> None:
    out = _redact_all(b"token \x1b[31m" + KEY[:10] + b"\x1b[32m" + KEY[10:] + b"\x1b[0m\n")
    assert KEY[10:] not in out


def test_a_secret_inside_a_title_is_found() -> None:
    assert KEY not in _redact_all(b"\x1b]0;" + KEY + b"\x07hello\n")


def test_a_secret_beside_undecodable_bytes_is_found() -> None:
    assert KEY not in _redact_all(b"\xff\xfe " + KEY + b"\n")


def test_a_private_key_of_several_lines_is_redacted() -> None:
    body = [b"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7%02d" % number for number in range(5)]
    block = [b"-----BEGIN PRIVATE KEY-----", *body, b"-----END PRIVATE KEY-----", b"after"]
    out = _redact_all(b"\n".join(block) + b"\n", 50)
    assert not [line for line in body if line in out]
    assert out.endswith(b"after\n")


def test_an_endless_line_is_not_buffered_without_limit() -> None:
    masking = RawOutputRedactor()
    assert masking.feed(b"word " * 100_000) != b""


def test_a_secret_painted_over_screen_rows_is_redacted() -> None:
    out = _redact_all(b"\x1b[2;3H" + KEY + b"\x1b[3;3H" + KEY[:20] + b"\x1b[4;3H" + KEY[20:] + b"\x1b[5;3Hafter")
    assert [piece for piece in (KEY[10:20], KEY[25:35]) if piece in out] == []
    assert out.endswith(b"after")


def test_a_secret_between_cursor_movements_is_redacted() -> None:
    # Recognized by its length: what is painted beside it must not lengthen it.
    secret = "fc-" + "3f9a1c7e5b2d8046" * 2
    data = f"\x1b[1;1Htoken {secret}\x1b[6;1Htoken\x1b[2;1Hx".encode()
    assert secret[3:].encode() not in _redact_all(data)
