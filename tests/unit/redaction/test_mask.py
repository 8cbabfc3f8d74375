"""Spans within one line."""

from termvisor.redaction import build_rules
from termvisor.redaction.mask import find_secrets, mask_spans, mask_until_stable

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
