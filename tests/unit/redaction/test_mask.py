"""Spans within one line."""

import pytest

from termvisor.redaction import build_rules
from termvisor.redaction.mask import SecretSpan, find_masked_parts, find_secrets, mask_spans, mask_until_stable
from termvisor.redaction.secret_kind import SecretKind

RULES = build_rules(extra=["[a-z]{3}-[0-9]{3}", "0-9?"])
NAMES = ["custom_1", "password_assignment"]


def test_spans_are_ordered_by_position():
    text = "password=hunter2 abc-123"
    assert [text[span.start : span.end] for span in find_secrets(RULES, NAMES, text)] == ["hunter2", "abc-123"]


def test_overlapping_spans_become_one_mask():
    text = "password=x1-abc-123-y."
    assert mask_spans(text, find_secrets(RULES, NAMES, text)) == "password=[redacted:password_assignment]."


def test_existing_markers_are_left_out_of_a_span():
    rules = build_rules(extra=["a.*z"])
    text = "x a1[redacted:jwt]2z y"
    spans = find_secrets(rules, ["custom_1"], text)
    assert mask_spans(text, spans) == "x [redacted:custom_1][redacted:jwt][redacted:custom_1] y"


def test_masking_repeats_until_nothing_is_found():
    rules = build_rules(extra=["ab", r"x\[redacted:custom_1\]y"])
    masked = mask_until_stable(rules, "xaby")
    assert mask_until_stable(rules, masked) == masked


def test_a_rejected_candidate_does_not_hide_one_inside_it():
    text = 'token = get(password="hunter2")'
    assert mask_until_stable(RULES, text) == 'token = get(password="[redacted:password_assignment]")'


FIRST, SECOND = (SecretKind(id=name, doc="") for name in ("first", "second"))


@pytest.mark.parametrize(
    ("spans", "masked"),
    [
        ([(1, 3), (3, 5)], "a[redacted:first][redacted:second]f"),
        ([(1, 4), (3, 5)], "a[redacted:first]f"),
        ([(1, 5), (2, 3)], "a[redacted:first]f"),
        ([(0, 1), (5, 6)], "[redacted:first]bcde[redacted:second]"),
        ([], "abcdef"),
    ],
)
def test_spans_that_touch_are_two_and_spans_that_overlap_are_one(spans, masked):
    kinds = (FIRST, SECOND)
    assert mask_spans("abcdef", [SecretSpan(*span[:1], *span, kinds[at]) for at, span in enumerate(spans)]) == masked


@pytest.mark.parametrize(
    ("text", "masked", "found"),
    [
        ("ab", "a[redacted:x]b", []),
        ("ab", "[redacted:x][redacted:y]", [(0, 2)]),
        ("a1b2c", "a[redacted:x]Z[redacted:y]c", [(1, 4)]),
        ("a1b1b2c", "a[redacted:x]b[redacted:y]c", [(1, 2), (3, 6)]),
    ],
)
def test_parts_that_cannot_be_told_apart_are_one(text, masked, found):
    assert find_masked_parts(text, masked) == found


MARKER = "[redacted:jwt]"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (f"a{MARKER}1z", f"[redacted:custom_1]{MARKER}[redacted:custom_1]"),
        (f"x{MARKER}a1z", f"x{MARKER}[redacted:custom_1]"),
        (f"a1z{MARKER}", f"[redacted:custom_1]{MARKER}"),
        (f"a{MARKER}{MARKER}z", f"[redacted:custom_1]{MARKER}{MARKER}[redacted:custom_1]"),
        (f"{MARKER} a1z {MARKER}", f"{MARKER} [redacted:custom_1] {MARKER}"),
    ],
)
def test_only_what_is_outside_of_markers_is_masked(text, masked):
    rules = build_rules(extra=["a.*z"])
    assert mask_spans(text, find_secrets(rules, ["custom_1"], text)) == masked


def test_a_match_that_begins_inside_a_marker_is_skipped():
    rules = build_rules(extra=["d:[a-z]+. x", "x y"])
    text = f"{MARKER} x y"
    assert mask_spans(text, find_secrets(rules, ["custom_1", "custom_2"], text)) == f"{MARKER} [redacted:custom_2]"


@pytest.mark.parametrize(
    ("before", "after", "kinds"),
    [
        ("password=", "", ["npm_token"]),
        ("password=", "!", ["password_assignment", "npm_token"]),
        ("password=x", "", ["password_assignment"]),
    ],
)
def test_a_provider_names_a_secret_that_its_context_finds_too(before, after, kinds):
    text = f"{before}npm_aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zC3fG5{after}"
    found = find_secrets(RULES, ["npm_token", "password_assignment"], text)
    assert [span.kind.id for span in found] == kinds
