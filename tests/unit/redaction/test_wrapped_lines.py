"""Secrets wrapped over rows, and rows that are not part of one."""

import pytest

from termvisor.redaction import Redactor, can_be_continuation, redact

KEY = "sk-ant-api03-" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8x" * 2 + "Y0zC3fG5hJ7kL9nP1qR2sT4uV"
"""94 characters, shown at 60 columns."""
MASK = "[redacted:anthropic_key]"


def fold_text(text: str, width: int = 60) -> list[str]:
    return [text[at : at + width] for at in range(0, len(text), width)]


def test_the_key_has_the_length_of_the_measured_one():
    assert len(KEY) == 94


def test_a_key_folded_over_two_rows_is_masked_in_both():
    assert Redactor().redact_lines(fold_text(KEY)) == [f"sk-ant-{MASK}", MASK]


def test_a_key_typed_at_a_prompt_wraps_and_is_masked_in_every_row():
    rows = fold_text(f"me@host:~/project$ export ANTHROPIC_API_KEY={KEY}")
    assert Redactor().redact_lines(rows) == [f"me@host:~/project$ export ANTHROPIC_API_KEY=sk-ant-{MASK}", MASK, MASK]


def test_a_box_of_three_rows_keeps_its_frame():
    rows = [f"│ > {row.ljust(40)} │" for row in fold_text(KEY, 40)]
    assert Redactor().redact_lines(rows) == [
        f"│ > sk-ant-{MASK} │",
        f"│ > {MASK} │",
        f"│ > {MASK}{' ' * 26} │",
    ]


def test_a_key_below_another_is_a_new_key():
    token = "eyJhbGciOi" + "aB3dE5gH7jK9mN1pQ2rS" * 2 + ".eyJ" + "aB3dE5gH7jK9mN1pQ2rS" * 2 + "." + "sT4uV6wX8y" * 4
    assert Redactor().redact_lines([*fold_text(KEY, 50), *fold_text(token, 50)]) == [
        *(f"sk-ant-{MASK}", MASK),
        *("eyJhbGciOi[redacted:jwt]", "[redacted:jwt]", "[redacted:jwt]"),
    ]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (KEY[20:50], True),
        (f"│ {KEY[20:30]} and more", True),
        ("", False),
        ("aB3dE5g", False),
        ("ordinary-words-only here", False),
        ("$ make test", False),
    ],
)
def test_a_long_run_may_be_a_continuation(row, expected):
    assert can_be_continuation(row) == expected


def test_text_after_the_key_is_unchanged():
    assert Redactor().redact_lines(fold_text(f"the key is {KEY} and it works"))[1].endswith(f"{MASK} and it works")


def test_a_wrapped_prefix_is_recognised():
    rows = [f"{'x' * 50} gh", "p_aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zC3fG5 rest"]
    assert Redactor().redact_lines(rows) == [rows[0], "p_[redacted:github_token] rest"]


def test_a_wrapped_prefix_may_get_the_name_of_a_shorter_one():
    rows = [f"{'x' * 50} sk-an", "t-" + KEY[7:]]
    assert Redactor().redact_lines(rows) == [rows[0], "[redacted:openai_key]"]


def test_a_few_characters_stay_on_the_first_row():
    rows = [f"{'x' * 40} {KEY[:12]}", KEY[12:]]
    assert Redactor().redact_lines(rows) == [rows[0], MASK]


def test_a_screen_with_a_wrapped_key_is_masked_as_one_text():
    assert redact("\n".join(["$ cat key", *fold_text(KEY), "$ "])) == f"$ cat key\nsk-ant-{MASK}\n{MASK}\n$ "


@pytest.mark.parametrize(
    "row",
    [
        "$ ls -l",
        "total 48",
        "user@host:~$",
        "drwxr-xr-x  2 root root 4096 bin",
        "2024-05-01 12:00:00 started",
        "ERROR no such file",
        "AWS_REGION=eu-west-1",
        "apiVersion: v1",
        "[INFO] ready",
        "python3 -m venv .venv",
        "",
        "└──────────────┘",
    ],
)
def test_a_row_that_starts_with_a_word_is_unchanged(row: str):
    assert Redactor().redact_lines([KEY, row]) == [f"sk-ant-{MASK}", row]


def test_a_single_word_after_an_unbounded_key_is_masked():
    assert Redactor().redact_lines([KEY, "done", "done"]) == [f"sk-ant-{MASK}", MASK, "done"]


def test_a_key_of_known_length_ends_where_it_ends():
    token = "AKIA" + "Q7ZK2M9XR4TB6WYD"
    rows = [f"aws_access_key_id is {token}", "done"]
    assert Redactor().redact_lines(rows) == ["aws_access_key_id is AKIA[redacted:aws_access_key_id]", "done"]


def test_the_last_characters_of_a_fixed_length_key_are_masked():
    token = "AIza" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zC3fG"
    rows = [f"the key is {token[:-2]}", f"{token[-2:]} and so on"]
    assert Redactor().redact_lines(rows) == [
        "the key is AIza[redacted:google_api_key]",
        "[redacted:google_api_key] and so on",
    ]


@pytest.mark.parametrize(
    "row", ["we trained it with sk-learn", "the prefix of such a key is sk-ant-", "this ends in s"]
)
def test_a_row_that_ends_like_a_prefix_does_not_mask_the_next(row: str):
    following = ["internationalization of the words", "k-means clustering"]
    assert Redactor().redact_lines([row, *following]) == [row, *following]


def test_assignments_are_not_followed_over_rows():
    rows = [f"{'x' * 40} PASSWORD=hunter2abc", "defghi rest"]
    assert Redactor().redact_lines(rows)[1] == rows[1]
