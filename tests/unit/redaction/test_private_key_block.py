"""Private key blocks, line by line."""

import pytest

from termvisor.redaction import Redactor, redact
from termvisor.redaction.partial_secrets import OpenSecret
from termvisor.redaction.private_key_block import find_block_start, mask_block_line

MASK = "[redacted:private_key]"
BODY = [
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj",
    "MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDu",
    "ictGeurT8jNbvJZHtCSuYEvu",
]


def build_block(label: str) -> list[str]:
    dashes = "-" * 5
    return [f"{dashes}BEGIN {label}{dashes}", *BODY, f"{dashes}END {label}{dashes}"]


@pytest.mark.parametrize("label", ["PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"])
def test_everything_between_begin_and_end_is_masked(label: str):
    first, *_, last = build_block(label)
    assert Redactor().redact_lines(["$ cat key", *build_block(label), "$ "]) == [
        "$ cat key",
        first,
        MASK,
        MASK,
        MASK,
        last,
        "$ ",
    ]


def test_a_public_key_and_a_certificate_are_unchanged():
    text = "\n".join(build_block("PUBLIC KEY") + build_block("CERTIFICATE"))
    assert redact(text) == text


def test_the_body_of_an_encrypted_key_is_masked_and_its_fields_are_not():
    first, *_, last = build_block("RSA PRIVATE KEY")
    rows = [first, "Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,3F9A", "", *BODY, last]
    assert Redactor().redact_lines(rows) == [*rows[:4], MASK, MASK, MASK, last]


@pytest.mark.parametrize(
    ("before", "behind"), [("│ ", "   │"), ("-", ""), ("   12→", ""), (" 7 │ ", ""), ("    ", "\r")]
)
def test_frames_gutters_and_diff_signs_are_unchanged(before: str, behind: str):
    first, *_, last = build_block("PRIVATE KEY")
    rows = [f"{before}{row}{behind}" for row in (first, *BODY, last)]
    assert Redactor().redact_lines(rows)[1:4] == [f"{before}{MASK}{behind}"] * 3


def test_an_unterminated_block_ends_at_the_first_other_line():
    first, body, *_ = build_block("PRIVATE KEY")
    rows = [first, body, "me@host:~$ ls", "README"]
    assert Redactor().redact_lines(rows) == [first, MASK, "me@host:~$ ls", "README"]


def test_a_block_continues_from_a_stored_state():
    rows = build_block("OPENSSH PRIVATE KEY")
    begun = Redactor()
    begun.redact_lines(rows[:2])
    assert begun.state.startswith(b"private_key ")
    assert Redactor(state=begun.state).redact_lines(rows[2:]) == [MASK, MASK, rows[-1]]


def test_text_about_a_block_does_not_open_one():
    rows = ["it starts with BEGIN PRIVATE KEY and then goes on", "word", "grep 'BEGIN RSA PRIVATE KEY' *.pem", "word"]
    assert Redactor().redact_lines(rows) == rows


RUN = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zC3fG5hJ7kL9nP"
BEGUN = 20
"""The length of the shortest BEGIN marker without blanks; a block that has begun counts its lines from here."""


def build_open(number: int, count: int) -> OpenSecret:
    return OpenSecret("private_key", number, count)


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("-----BEGIN PRIVATE KEY-----", build_open(0, BEGUN)),
        ("x -----BEGIN RSA PRIVATE KEY", build_open(0, BEGUN)),
        ("-----BEGIN PRIVATE KEY-----MIIE", build_open(0, BEGUN)),
        (f"BEGIN EC PRIVATE KEY----- {MASK}", build_open(0, BEGUN)),
        ('BEGIN PRIVATE KEY-----"\\n', build_open(0, BEGUN)),
        ("BEGIN PRIVATE KEY----- x-y BEGIN PRIVATE KEY-----", build_open(0, BEGUN)),
        ("BEGIN PRIVATE KEY----- BEGIN PRIVATE KEY----- x-y", None),
        ("-----BEGIN PRIVATE KEY-----" + RUN[:25], None),
        ("'BEGIN PRIVATE KEY-----' 'x'", None),
        ("-----BEGIN RSA PRIV", build_open(1, 17)),
        ("-----BEGIN R │", build_open(1, 11)),
        ("-----B", build_open(0, 6)),
        ("-----", None),
        ("words", None),
    ],
)
def test_a_block_begins_with_its_whole_marker_or_a_cut_one(row, found):
    assert find_block_start(row) == found


@pytest.mark.parametrize(
    ("row", "open_secret", "after"),
    [
        ("PRIVATE KEY-----", build_open(1, 13), build_open(0, BEGUN)),
        ("SA PRIVATE KEY", build_open(1, 11), build_open(0, BEGUN)),
        ("NCRYPTED PRIVATE KEY-----", build_open(2, 11), build_open(0, BEGUN)),
        ("S", build_open(1, 11), build_open(1, 12)),
        ("> PRIVATE │", build_open(1, 13), build_open(1, 20)),
        ("SSH PRIVATE", build_open(4, 14), build_open(4, 24)),
        ("SA PRIVATE KEY", build_open(2, 12), None),
        ("words", build_open(1, 13), None),
        ("", build_open(1, 13), None),
    ],
)
def test_a_cut_marker_continues_with_any_label_that_begins_the_same(row, open_secret, after):
    assert mask_block_line(row, open_secret) == (row, after)


@pytest.mark.parametrize(
    ("row", "count", "masked", "is_open"),
    [
        ("", 0, "", True),
        ("-----", 0, "-----", True),
        ("------", 0, "------", False),
        ("-----", 1, "-----", False),
        ("MessageID: x", 0, "MessageID: x", True),
        ("Other: x", 0, "Other: x", False),
        (MASK, 0, MASK, True),
        (f"{MASK} x", 0, f"{MASK} x", False),
        (f"{RUN[:39]} x", 0, f"{RUN[:39]} x", False),
        (f"{RUN[:40]} x", 0, f"{MASK} x", False),
        ("aB3dE-----END", 0, f"{MASK}-----END", False),
        ("aB3dE,", 0, f"{MASK},", False),
        ("aB3dE;", 0, "aB3dE;", False),
        ('aB3dE" x', 0, f'{MASK}" x', False),
        ("=ab\\", 0, MASK, True),
        ("ab_", 0, "ab_", False),
        ("--aB3dE5gH", 0, "--aB3dE5gH", False),
        (RUN, 599, MASK, True),
        (RUN, 600, MASK, False),
    ],
)
def test_each_line_continues_a_block_or_ends_it(row, count, masked, is_open):
    after = build_open(0, BEGUN + count + 1) if is_open else None
    assert mask_block_line(row, build_open(0, BEGUN + count)) == (masked, after)


def test_a_secret_in_a_field_does_not_end_the_block():
    rows = [build_block("PRIVATE KEY")[0], "Comment: password=hunter2", *BODY]
    assert Redactor().redact_lines(rows)[2:] == [MASK] * 3
