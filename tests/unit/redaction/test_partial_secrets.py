"""Secrets wrapped over rows, and rows that are not part of one."""

import pytest

from termvisor.redaction import Redactor, can_be_continuation, redact
from termvisor.redaction.mask import SecretSpan
from termvisor.redaction.partial_secrets import (
    OpenSecret,
    decode_open_secret,
    find_cut_prefix,
    find_open_secret,
    has_new_secret,
    mask_continuation,
    mask_cut_secret,
)
from termvisor.redaction.ruleset import RedactionRules
from termvisor.redaction.secret_kind import SecretKind

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


FIXED = SecretKind(id="fixed", doc="", prefixes=("fx-",), charset="A-Za-z0-9", min_length=20, max_length=20)
ENDLESS = SecretKind(id="endless", doc="", prefixes=("op_long_", "op_"), charset="A-Za-z0-9_", min_length=20)
NESTED = SecretKind(id="nested", doc="", prefixes=("fx-inside-",), charset="A-Za-z0-9", min_length=20)
RULES = RedactionRules([NESTED, FIXED, ENDLESS])
BODY = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8x"


def build_fixed(seen: int) -> OpenSecret:
    return OpenSecret("fixed", 0, 3 + seen)


def build_endless(seen: int) -> OpenSecret:
    return OpenSecret("endless", 1, 3 + seen)


@pytest.mark.parametrize(
    ("open_secret", "row", "masked", "still_open"),
    [
        # The last characters of a fixed length may be a word, also with text after it; no row may exceed the length.
        (build_fixed(16), "word", "[redacted:fixed]", None),
        (build_fixed(16), "word more", "[redacted:fixed] more", None),
        (build_fixed(16), "a1b2c", "a1b2c", None),
        (build_fixed(4), BODY[:10], "[redacted:fixed]", build_fixed(14)),
        # Alone on its row, any word continues a secret that is long enough, and no plain one a secret that is not.
        (build_endless(20), "word", "[redacted:endless]", None),
        (build_endless(20), "aB3d", "[redacted:endless]", build_endless(24)),
        (build_endless(19), "plain_words", "plain_words", None),
        (build_endless(3), "CAPITALS", "[redacted:endless]", build_endless(11)),
        (build_endless(15), "aB3dE", "[redacted:endless]", build_endless(20)),
        (build_endless(2), "aB3dE5g", "aB3dE5g", None),
        (build_endless(0), "aB3dE5g", "aB3dE5g", None),
        (build_endless(2), "aB3dE5gH", "[redacted:endless]", build_endless(10)),
        # Before other text, a run must complete the secret and must not be a word.
        (build_endless(15), "aB3dE and", "[redacted:endless] and", None),
        (build_endless(14), "aB3dE and", "aB3dE and", None),
        (build_endless(25), "word and", "word and", None),
        (build_endless(25), "(aB3dE5gH7jK9)", "(aB3dE5gH7jK9)", None),
        (build_endless(25), "", "", None),
        # A prefix that was cut continues with any prefix that begins the same, but not as one that was complete.
        (OpenSecret("fixed", 0, 2), f"-{BODY[:20]}", "-[redacted:fixed]", None),
        (OpenSecret("nested", 0, 3), f"inside-{BODY}", "inside-[redacted:nested]", OpenSecret("nested", 0, 38)),
        (OpenSecret("nested", 0, 3), BODY[:20], BODY[:20], None),
        (OpenSecret("nested", 0, 2), f"-{BODY[:20]}", "-[redacted:fixed]", None),
        (OpenSecret("nested", 0, 2), "-inside-aB3dE", "-inside-[redacted:nested]", OpenSecret("nested", 0, 15)),
        (OpenSecret("nested", 0, 2), "-inside-aB3dE and", "-inside-aB3dE and", None),
        (OpenSecret("nested", 0, 2), "-inside-words", "-inside-words", None),
        (OpenSecret("nested", 0, 2), "-inside-aB3d", "-inside-aB3d", None),
        (OpenSecret("unknown", 0, 2), BODY, BODY, None),
        (OpenSecret("endless", 9, 30), BODY, BODY, None),
    ],
)
def test_each_reason_to_continue_a_secret_decides_alone(open_secret, row, masked, still_open):
    assert mask_continuation(RULES, row, open_secret) == (masked, still_open)
    framed = mask_continuation(RULES, f"│ {row} │", open_secret)
    assert framed == (f"│ {masked} │", still_open)


EVERY = frozenset(RULES.kinds)
ROW = "a row of words "


@pytest.mark.parametrize(
    ("row", "kinds", "masked", "still_open"),
    [
        (f"{ROW}op_{BODY[:8]}", EVERY, f"{ROW}op_[redacted:endless]", build_endless(8)),
        (f"{ROW}op_{BODY[:7]}", EVERY, f"{ROW}op_{BODY[:7]}", build_endless(7)),
        (f"{ROW}op_plain_words", EVERY, f"{ROW}op_plain_words", build_endless(11)),
        (f"{ROW}op_long_{BODY[:8]}", EVERY, f"{ROW}op_long_[redacted:endless]", OpenSecret("endless", 0, 16)),
        (f"{ROW}op_{BODY[:8]}  │", EVERY, f"{ROW}op_[redacted:endless]  │", build_endless(8)),
        (f"{ROW}op_{BODY[:8]}.", EVERY, f"{ROW}op_{BODY[:8]}.", None),
        (f"{ROW}op_{BODY[:8]}", frozenset({"fixed"}), f"{ROW}op_{BODY[:8]}", None),
        (f"{ROW}xop_{BODY[:8]}", EVERY, f"{ROW}xop_{BODY[:8]}", None),
        (f"words  op_{BODY[:7]}", EVERY, f"words  op_{BODY[:7]}", None),
        (f"words  op_{BODY[:8]}", EVERY, "words  op_[redacted:endless]", build_endless(8)),
        (f"{ROW}fx-{BODY[:19]}", EVERY, f"{ROW}fx-[redacted:fixed]", build_fixed(19)),
        (f"{ROW}fx-{BODY[:20]}", EVERY, f"{ROW}fx-{BODY[:20]}", None),
        ("ends in op", EVERY, "ends in op", OpenSecret("endless", 1, 2)),
    ],
)
def test_a_secret_at_the_end_of_a_row_is_cut_if_it_fills_the_row(row, kinds, masked, still_open):
    assert mask_cut_secret(RULES, row, kinds) == (masked, still_open)


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("op", OpenSecret("endless", 1, 2)),
        ("(op_lon", OpenSecret("endless", 0, 6)),
        ("é" + "op", OpenSecret("endless", 1, 2)),
        ("fx-in │", OpenSecret("nested", 0, 5)),
        ("stop", None),
        ("op.", None),
        ("", None),
    ],
)
def test_the_start_of_a_prefix_at_the_end_of_a_row_is_found(row, found):
    assert find_cut_prefix(RULES, row) == found


@pytest.mark.parametrize(
    ("text", "kind", "found"),
    [
        ("x op_123456", ENDLESS, build_endless(6)),
        ("x op_123456 │", ENDLESS, build_endless(6)),
        ("x op_123456 y", ENDLESS, None),
        ("x zz_123456", ENDLESS, OpenSecret("endless", 0, 9)),
        ("x fx-" + "1" * 19, FIXED, build_fixed(19)),
        ("x fx-" + "1" * 20, FIXED, None),
        ("x op_123456", SecretKind(id="context", doc=""), None),
    ],
)
def test_a_secret_that_reaches_the_end_of_a_row_may_continue(text, kind, found):
    end = len(text.rstrip(" │y"))
    assert find_open_secret(text, [SecretSpan(2, 5, end, kind)]) == found


@pytest.mark.parametrize(
    ("row", "kinds", "is_new"),
    [
        (f"│ op_{BODY}", EVERY, True),
        (f"op_{BODY}", frozenset({"fixed"}), False),
        (f"x op_{BODY}", EVERY, False),
        (f"op_{BODY} more", EVERY, False),
        (BODY, EVERY, False),
    ],
)
def test_a_row_that_a_secret_fills_begins_a_new_one(row, kinds, is_new):
    assert has_new_secret(RULES, row, kinds) is is_new


def test_a_stored_state_is_decoded():
    secret = OpenSecret("nested", 12, 345)
    assert (secret.encode(), decode_open_secret(secret.encode())) == (b"nested 12 345", secret)
