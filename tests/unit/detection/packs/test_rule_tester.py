"""The trace of a rule tested on a text."""

import msgspec

from termvisor.detection.packs.rule_tester import try_rule
from termvisor.model.detection.rule import MAX_BYTES, MAX_SPANS
from tests.unit.detection.packs.rule_factory import build_rule


def test_a_match_has_line_captures_spans_and_stages() -> None:
    trial = try_rule(build_rule(r"^limit (?P<at>\d+)", anchors=("limit", "none")), "first\nlimit 3 left")
    assert (trial.line, trial.captures) == (1, {"at": "3"})
    assert [(span.kind, span.start, span.end) for span in trial.trace.spans] == [
        ("anchor", 0, 5),
        ("regex", 0, 7),
        ("context", 0, 12),
    ]
    assert [(stage.stage, stage.matched, stage.hits) for stage in trial.trace.eval_path] == [
        ("agent", True, ()),
        ("anchor", True, ("anchors[0]",)),
        ("regex", True, ("pattern",)),
        ("captures", True, ("captures.at",)),
    ]


def test_the_trace_of_a_miss_ends_at_the_failed_stage() -> None:
    about = build_rule("^limit", agent="codex", anchors=("limit",))
    stages = [
        [(stage.stage, stage.matched) for stage in try_rule(about, text, agent).trace.eval_path]
        for text, agent in (("limit", "gemini"), ("none", "codex"), ("a limit", ""))
    ]
    assert stages == [
        [("agent", False)],
        [("agent", True), ("anchor", False)],
        [("agent", True), ("anchor", True), ("regex", False)],
    ]


def test_a_stream_rule_is_tested_on_windows_of_lines() -> None:
    wide = build_rule(r"a\n(?:.*\n)?b", scope="stream")
    assert [try_rule(wide, text).line for text in ("a\nb", "x\na\nx\nb\n", "a\nx\nx\nb")] == [1, 3, None]


def test_a_trace_never_contains_the_text_and_is_bounded() -> None:
    secret = "correct horse battery staple"
    many = build_rule(f"^{secret} (?P<word>.*)", anchors=tuple(secret[:number] for number in range(4, 24)))
    trace = try_rule(many, f"{secret} hunter2").trace
    assert b"hunter2" not in (encoded := msgspec.json.encode(trace))
    assert secret.encode() not in encoded
    assert (len(trace.spans), trace.bounds.truncated_fields) == (MAX_SPANS, ("spans",))
    wordy = build_rule("".join(f"(?P<{'n' * 90}{number}>.)" for number in range(60)))
    assert len(msgspec.json.encode(try_rule(wordy, "x" * 60).trace)) <= MAX_BYTES
