"""Secrets in raw bytes: what is masked, what is not, and that nothing else changes."""

import pytest

from termvisor.redaction import build_rules, redact
from termvisor.redaction.mask import find_masked_parts
from termvisor.redaction.raw_bytes import CHUNK_BYTES, RawByteMasker, mask_bytes

BODY = b"api03-aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3bC5dE7fG9hJ1kL3mN5pQ7rS9tU1vW3xY5zA7bC9dE1fG3hJ5kL"
KEY = b"sk-ant-" + BODY
ZEROS = b"sk-ant-" + b"0" * len(BODY)
BAR = "│".encode()
NONCE = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
TOKEN = b"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"


def build_masked_pair(template: bytes, *pieces: bytes) -> tuple[bytes, bytes]:
    """Return the template with the pieces of the key, and with zeros instead."""
    prefix = b"sk-ant-"
    zeros = [b"0" * len(piece) for piece in pieces]
    kept = prefix[: len(pieces[0])]
    zeros[0] = kept + zeros[0][len(kept) :]
    return template % pieces, template % tuple(zeros)


@pytest.mark.parametrize(
    ("printed", "kept"),
    [
        build_masked_pair(b"%s", KEY),
        build_masked_pair(b"my key is %s and not yours\r\n", KEY),
        build_masked_pair(b"\x1b[32m%s\x1b[0m\r\nok\r\n", KEY),
        build_masked_pair(b"%s\x1b[m\x1b[K\x1b[01;31m\x1b[K%s\x1b[m\x1b[K%s", KEY[:20], KEY[20:30], KEY[30:]),
        build_masked_pair(b"%s\r\n%s\r\nnext line\r\n", KEY[:60], KEY[60:]),
        build_masked_pair(b"$ echo %s \r%s\r\n", KEY[:53], KEY[53:]),
        build_masked_pair(b"%s \x08%s\r\n", KEY[:60], KEY[60:]),
        build_masked_pair(b"%s\x1b[6;1H%s\x1b[K\x1b[8;1Hmore words", KEY[:60], KEY[60:]),
        build_masked_pair(BAR + b" %s " + BAR + b"\r\n" + BAR + b" %s  " + BAR, KEY[:50], KEY[50:]),
        build_masked_pair(b"\x1b]0;curl %s\x07rest", KEY),
        build_masked_pair(b"\x1b]633;E;curl %s;nonce\x1b\\$", KEY),
    ],
)
def test_a_key_is_found_however_it_is_painted(printed, kept):
    assert mask_bytes(printed) == kept


def test_a_short_start_at_the_row_end_is_masked_with_the_next_row():
    assert mask_bytes(b"the key sk-ant-api\r\n" + KEY[10:] + b"\r\n")[:20] == b"the key sk-ant-000\r\n"


def test_two_stacked_keys_keep_their_prefixes():
    assert mask_bytes(KEY + b"\r\n" + KEY + b"\r\n") == (ZEROS + b"\r\n") * 2


def test_a_jwt_keeps_its_dots_and_header_start():
    masked = mask_bytes(b"bearer " + TOKEN)
    assert [len(part) for part in masked.split(b".")] == [len(part) for part in (b"bearer " + TOKEN).split(b".")]
    assert masked.startswith(b"bearer eyJ")
    assert b".eyJ0" in masked
    assert b"SflKx" not in masked


def test_a_private_key_is_masked_in_all_its_lines():
    rows = [b"b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAA", b"QyNTUxOQAAACD1b2Qk3ex0aR0Zb8dHsHWQ6HoQxBS3Ev"]
    head, end = b"-----BEGIN OPENSSH PRIVATE KEY-----", b"-----END OPENSSH PRIVATE KEY-----"
    masked = mask_bytes(b"\r\n".join([b"$ cat id", head, *rows, end, b"$ ls"]))
    assert masked == b"\r\n".join([b"$ cat id", head, *(b"0" * len(row) for row in rows), end, b"$ ls"])


@pytest.mark.parametrize(
    "data",
    [
        b"password=hunter2 API_KEY=abcdef123456\r\n",
        b"sk-learn-based-model and task-runner-with-many-words\r\n",
        b"\x00\xff\xfe binary \x1b[?25l\x1b[H\x1b[2J",
        b"sk-ant-\r\n\r\n\r\n",
        b"",
        b"commit 3b18e512dba79e4c8300dd08aeb37f8e728b8dad\r\n",
    ],
)
def test_uncertain_secrets_are_unchanged(data):
    assert mask_bytes(data) == data


def test_words_below_a_key_are_unchanged():
    assert mask_bytes(KEY + b"\r\nDone\r\nok\r\n") == ZEROS + b"\r\nDone\r\nok\r\n"


def test_a_key_painted_cell_by_cell_with_text_between_is_not_found():
    """A documented miss: a composer that redraws its spinner after every character."""
    painted = b"".join(b"\x1b[5;%dH%c\x1b[1;1H*" % (column, char) for column, char in enumerate(KEY, 1))
    assert mask_bytes(painted) == painted


def test_an_encoded_key_is_not_found():
    """A documented miss."""
    encoded = b"c2stYW50LWFwaTAzLWFCM2RFNWdIN2pLOW1OMXBRM3JTNXRVN3ZXOXhZMXpBM2JDNWRFN2ZHOWhKMWtM"
    assert mask_bytes(encoded) == encoded


def test_text_from_masked_bytes_is_redacted_like_the_secret():
    for text in (KEY, TOKEN, b"x ghp_" + b"a1B2c3D4" * 5):
        assert redact(mask_bytes(text).decode()) == redact(text.decode())


def test_masking_is_idempotent():
    once = mask_bytes(b"a " + KEY + b"\r\n" + TOKEN + b"\r\n")
    assert mask_bytes(once) == once


def test_rows_with_secrets_are_counted_from_the_start_of_the_stream():
    filler = b"words and more words\r\n" * (CHUNK_BYTES // 22)
    masking = RawByteMasker()
    out = b"".join(masking.feed(KEY + b"\r\n" + filler) for _ in range(3)) + masking.finish()
    assert masking.secret_offsets == [number * len(KEY + b"\r\n" + filler) for number in range(3)]
    assert out == (ZEROS + b"\r\n" + filler) * 3


def test_the_length_of_a_stream_does_not_change():
    filler = b"words and more words\r\n" * (CHUNK_BYTES // 22)
    masking = RawByteMasker()
    out = bytearray()
    for data in (filler[:-22], KEY[:40], KEY[40:] + b"\r\n", filler):
        out += masking.feed(data)
    out += masking.finish()
    assert bytes(out) == filler[:-22] + ZEROS + b"\r\n" + filler
    assert masking.secret_offsets == [len(filler) - 22]


def test_the_shell_nonce_is_overwritten_in_every_mark():
    rules = build_rules(nonce=NONCE)
    marks = b"\x1b]133;D;0;aid=7;nonce=%s\x07\x1b]133;A;aid=7;nonce=%s\x07$ " % (NONCE.encode(), NONCE.encode())
    assert mask_bytes(marks, rules) == marks.replace(NONCE.encode(), b"x" * 32)
    assert redact(mask_bytes(marks, rules).decode()) == mask_bytes(marks, rules).decode()


def test_a_piece_of_a_seen_key_is_masked():
    assert mask_bytes(KEY + b"\r\n\x1b[A\rthe rest " + KEY[30:50]).endswith(b"\rthe rest " + b"0" * 20)


def test_allowed_kinds_are_unchanged():
    assert mask_bytes(KEY, build_rules(allow=["anthropic_key", "openai_key"])) == KEY


@pytest.mark.parametrize(
    ("text", "masked", "found"),
    [
        ("a b", "a b", []),
        ("sk-abc d", "sk-[redacted:x] d", [(3, 6)]),
        ("abc", "[redacted:x]", [(0, 3)]),
        ("k1abc,k2def.", "k1[redacted:x],k2[redacted:y].", [(2, 5), (8, 11)]),
        ("see [redacted:x] k1abc", "see [redacted:x] k1[redacted:y]", [(19, 22)]),
    ],
)
def test_masked_parts_are_found_by_their_markers(text, masked, found):
    assert find_masked_parts(text, masked) == found


@pytest.mark.parametrize("char", ["\u200b", "\u2060", "\ufeff", "\u00ad"])
def test_invisible_characters_hide_no_key(char):
    split = KEY[:10] + char.encode() + KEY[10:40] + char.encode() + KEY[40:]
    assert mask_bytes(b"key " + split + b" end\r\n") == (
        b"key " + ZEROS[:10] + char.encode() + ZEROS[10:40] + char.encode() + ZEROS[40:] + b" end\r\n"
    )


def test_a_byte_of_an_accented_letter_is_not_invisible():
    row = "aquí ".encode() + KEY + " está ahí\r\n".encode()
    assert mask_bytes(row) == "aquí ".encode() + ZEROS + " está ahí\r\n".encode()
