"""Test a rule on a given text and trace its evaluation. Nothing is stored or published.

In: a rule and a text of any number of lines. Out: the first match, as it would be in a pane, and the trace.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.detection.packs.rule_match import WINDOW_LINES, extract_captures, find_match_ending_after, has_anchor
from termvisor.model.detection.rule import (
    MAX_BYTES,
    MAX_SPANS,
    MatchTrace,
    Rule,
    TraceBounds,
    TraceRedaction,
    TraceSpan,
    TraceStage,
)


class RuleTestResult(Struct, frozen=True, kw_only=True):
    """Result of a test; ``line`` is where the match ends, counted from 0, or None if the rule does not match."""

    rule: Rule
    line: int | None = None
    captures: dict[str, str] = {}
    trace: MatchTrace


def try_rule(rule: Rule, text: str, agent: str = "") -> RuleTestResult:
    """Return the first match of a rule. ``agent`` is the agent in the pane; empty means any."""
    first = next(_find_matches(rule, text), None) if _is_for_agent(rule, agent) else None
    if first is None:
        return RuleTestResult(rule=rule, trace=build_trace(rule, text, None, agent))
    line, window, match = first
    trace = build_trace(rule, window, match, agent)
    return RuleTestResult(rule=rule, line=line, captures=extract_captures(match), trace=trace)


def build_trace(rule: Rule, text: str, match: re.Match[str] | None, agent: str = "") -> MatchTrace:
    """Build the trace of this rule's evaluation on this text."""
    captures = tuple(extract_captures(match)) if match else ()
    spans = _find_anchor_spans(rule, text) if _is_for_agent(rule, agent) else []
    if match is not None:
        spans.append(TraceSpan(start=match.start(), end=match.end(), kind="regex", capture_keys=captures))
        spans.append(TraceSpan(start=0, end=len(text), kind="context"))
    return _truncate_trace(
        MatchTrace(
            rule_id=rule.id,
            spans=tuple(spans),
            extracted_keys=captures,
            confidence=rule.confidence if match else None,
            eval_path=tuple(_build_eval_path(rule, text, match, agent)),
            redaction=TraceRedaction(redacted_fields=tuple(f"captures.{name}" for name in captures)),
        )
    )


def _build_eval_path(rule: Rule, text: str, match: re.Match[str] | None, agent: str) -> Iterator[TraceStage]:
    """Yield the evaluated stages up to the one that decided."""
    is_applicable = _is_for_agent(rule, agent)
    yield TraceStage(stage="agent", matched=is_applicable, hits=("agent",) if is_applicable and rule.agent else ())
    if not is_applicable:
        return
    is_anchored = has_anchor(rule, text)
    labels = tuple(f"anchors[{number}]" for number, anchor in enumerate(rule.anchors) if anchor in text)
    yield TraceStage(stage="anchor", matched=is_anchored, hits=labels)
    if not is_anchored:
        return
    yield TraceStage(stage="regex", matched=match is not None, hits=("pattern",) if match else ())
    if match is not None and (captures := extract_captures(match)):
        yield TraceStage(stage="captures", matched=True, hits=tuple(f"captures.{name}" for name in captures))


def _find_matches(rule: Rule, text: str) -> Iterator[tuple[int, str, re.Match[str]]]:
    """Yield every line on which a match ends, with the text that contains the match, and the match itself."""
    lines = text.split("\n") if rule.scope in ("line", "stream") else [text]
    reach = WINDOW_LINES if rule.scope == "stream" else 1
    for index, line in enumerate(lines):
        window = "\n".join(lines[max(0, index - reach + 1) : index + 1])
        match = find_match_ending_after(rule, window, len(window) - len(line))
        if match is not None:
            yield index, window, match


def _find_anchor_spans(rule: Rule, text: str) -> list[TraceSpan]:
    places = [(text.find(anchor), anchor) for anchor in rule.anchors]
    return [TraceSpan(start=start, end=start + len(anchor), kind="anchor") for start, anchor in places if start >= 0]


def _is_for_agent(rule: Rule, agent: str) -> bool:
    return not (rule.agent and agent and rule.agent != agent)


def _truncate_trace(trace: MatchTrace) -> MatchTrace:
    """Cut the trace to its size limits and record what was cut. The pattern's own span is cut last."""
    cut: list[str] = []
    if len(trace.spans) > MAX_SPANS:
        cut.append("spans")
        spans: Sequence[TraceSpan] = sorted(trace.spans, key=lambda span: span.kind != "regex")[:MAX_SPANS]
        trace = replace(trace, spans=tuple(spans))
    for field in ("eval_path", "extracted_keys", "redaction", "spans"):
        if len(msgspec.json.encode(trace)) <= MAX_BYTES - 200:
            break
        cut.append(field)
        trace = replace(trace, **{field: TraceRedaction() if field == "redaction" else ()})
    return replace(trace, bounds=TraceBounds(truncated=bool(cut), truncated_fields=tuple(cut))) if cut else trace
