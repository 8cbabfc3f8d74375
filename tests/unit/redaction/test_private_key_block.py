"""Private key blocks, line by line."""

import pytest

from termvisor.redaction import Redactor, redact

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
