"""The nonce of the user's shells, cut by rows and the ends of recordings, and in base64."""

import base64

import pytest

from termvisor.ops.history._raw_redaction import RawOutputRedactor
from termvisor.redaction import Redactor, build_rules, use_rules
from termvisor.redaction.nonce_pieces import MIN_PIECE_CHARS
from termvisor.redaction.raw_bytes import mask_bytes

NONCE = "9f3a61c2d47b805e6ad1f0347c92be58"
MARKS = f"\x1b]133;D;0;aid=42;nonce={NONCE}\x07\x1b]133;A;aid=42;nonce={NONCE}\x07$ ".encode()
RULES = build_rules(nonce=NONCE)


@pytest.fixture(autouse=True)
def _use_nonce():
    use_rules(RULES)
    yield
    use_rules(build_rules())


def measure_piece(text: str) -> int:
    """Return the length of the longest piece of the nonce in a text."""
    return max(end - start for start in range(33) for end in range(start, 33) if NONCE[start:end] in text)


def export_raw(data: bytes) -> str:
    redactor = RawOutputRedactor()
    return (redactor.feed(data) + redactor.finish()).decode()


def test_a_recording_may_begin_or_end_within_a_mark() -> None:
    ends = [MARKS[:at] for at in range(len(MARKS))] + [MARKS[at:] for at in range(len(MARKS))]
    assert max(measure_piece(export_raw(data)) for data in ends) < MIN_PIECE_CHARS
    assert max(measure_piece(mask_bytes(data, RULES).decode()) for data in ends) < MIN_PIECE_CHARS


@pytest.mark.parametrize("before", ["", "the nonce ", "nonce="])
def test_the_rows_of_a_narrow_screen_show_no_long_piece(before: str) -> None:
    for width in range(MIN_PIECE_CHARS, 60):
        text = f"{before}{NONCE} and more"
        rows = [text[at : at + width] for at in range(0, len(text), width)]
        assert measure_piece(" ".join(Redactor(RULES).redact_lines(rows))) < MIN_PIECE_CHARS, rows
        assert measure_piece(export_raw("\r\n".join(rows).encode())) < MIN_PIECE_CHARS, rows


@pytest.mark.parametrize("text", ['{"nonce":"%s"}', '{"a":1,"nonce":"%s"}', '{"ab":1,"nonce":"%s"}'])
def test_a_user_variable_in_base64_is_overwritten(text: str) -> None:
    encoded = base64.b64encode((text % NONCE).encode())
    masked = mask_bytes(b"\x1b]1337;SetUserVar=visor-ready=%s\x07" % encoded, RULES)
    value = masked.partition(b"visor-ready=")[2].rstrip(b"\x07")
    assert len(value) == len(encoded)
    assert measure_piece(base64.b64decode(value).decode("latin-1")) < MIN_PIECE_CHARS


def test_other_hexadecimal_numbers_are_kept() -> None:
    rows = [NONCE[:7], NONCE[1:15], NONCE[::-1], NONCE[1:8] + "0" + NONCE[9:16]]
    assert Redactor(RULES).redact_lines(rows) == rows
