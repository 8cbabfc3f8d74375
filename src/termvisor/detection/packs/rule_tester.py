"""Tries rules on a text that somebody gives, and says how each came to its word. Nothing is stored or told.

In: rules and a text of any number of lines. Out: what matched, line by line, as it would in a pane.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.detection.packs.pattern_match import WINDOW_LINES, extract_captures, find_match_ending_after, has_anchor
from termvisor.model.detection.match_trace import (
    MAX_BYTES,
    MAX_SPANS,
    MatchTrace,
    TraceBounds,
    TraceRedaction,
    TraceSpan,
    TraceStage,
)
from termvisor.model.detection.rule import Rule


class RuleTestResult(Struct, frozen=True, kw_only=True):
    """``line`` counts from 0 and is where the match ends; None where the rule does not match at all."""

    rule: Rule
    line: int | None = None
    captures: dict[str, str] = {}
    trace: MatchTrace


def try_rule(rule: Rule, text: str, agent: str = "") -> RuleTestResult:
    """The first match of one rule. ``agent`` is who lives in the pane; empty where that is not asked."""
    found = next(_find_matches(rule, text), None) if _is_for_agent(rule, agent) else None
    if found is None:
        return RuleTestResult(rule=rule, trace=build_trace(rule, text, None, agent))
    line, window, match = found
    return RuleTestResult(
        rule=rule, line=line, captures=extract_captures(match), trace=build_trace(rule, window, match, agent)
    )


def build_trace(rule: Rule, text: str, match: re.Match[str] | None, agent: str = "") -> MatchTrace:
    """How this rule read this text, with what came of it."""
    taken = tuple(extract_captures(match)) if match else ()
    spans = _find_anchor_spans(rule, text) if _is_for_agent(rule, agent) else []
    if match is not None:
        spans.append(TraceSpan(start=match.start(), end=match.end(), kind="regex", capture_keys=taken))
        spans.append(TraceSpan(start=0, end=len(text), kind="context"))
    return _truncate_trace(
        MatchTrace(
            rule_id=rule.id,
            spans=tuple(spans),
            extracted_keys=taken,
            confidence=rule.confidence if match else None,
            eval_path=tuple(_build_eval_path(rule, text, match, agent)),
            redaction=TraceRedaction(redacted_fields=tuple(f"captures.{name}" for name in taken)),
        )
    )


def _build_eval_path(rule: Rule, text: str, match: re.Match[str] | None, agent: str) -> Iterator[TraceStage]:
    """The looks that were taken, up to the one that ended it."""
    is_heard = _is_for_agent(rule, agent)
    yield TraceStage(stage="agent", matched=is_heard, hits=("agent",) if is_heard and rule.agent else ())
    if not is_heard:
        return
    is_anchored = has_anchor(rule, text)
    labels = tuple(f"anchors[{number}]" for number, anchor in enumerate(rule.anchors) if anchor in text)
    yield TraceStage(stage="anchor", matched=is_anchored, hits=labels)
    if not is_anchored:
        return
    yield TraceStage(stage="regex", matched=match is not None, hits=("pattern",) if match else ())
    if match is not None and (taken := extract_captures(match)):
        yield TraceStage(stage="captures", matched=True, hits=tuple(f"captures.{name}" for name in taken))


def _find_matches(rule: Rule, text: str) -> Iterator[tuple[int, str, re.Match[str]]]:
    """Every line on which it ends, with the text that it is found in."""
    lines = text.split("\n") if rule.scope in ("line", "stream") else [text]
    reach = WINDOW_LINES if rule.scope == "stream" else 1
    for index, line in enumerate(lines):
        window = "\n".join(lines[max(0, index - reach + 1) : index + 1])
        match = find_match_ending_after(rule, window, len(window) - len(line))
        if match is not None:
            yield index, window, match


def _find_anchor_spans(rule: Rule, text: str) -> list[TraceSpan]:
    found = [(text.find(anchor), anchor) for anchor in rule.anchors]
    return [TraceSpan(start=start, end=start + len(anchor), kind="anchor") for start, anchor in found if start >= 0]


def _is_for_agent(rule: Rule, agent: str) -> bool:
    return not (rule.agent and agent and rule.agent != agent)


def _truncate_trace(trace: MatchTrace) -> MatchTrace:
    """Within its bounds; what was cut is said. The pattern's own span outlives those of its anchors."""
    cut: list[str] = []
    if len(trace.spans) > MAX_SPANS:
        cut.append("spans")
        kept: Sequence[TraceSpan] = sorted(trace.spans, key=lambda span: span.kind != "regex")[:MAX_SPANS]
        trace = replace(trace, spans=tuple(kept))
    for field in ("eval_path", "extracted_keys", "redaction", "spans"):
        if len(msgspec.json.encode(trace)) <= MAX_BYTES - 200:
            break
        cut.append(field)
        trace = replace(trace, **{field: TraceRedaction() if field == "redaction" else ()})
    return replace(trace, bounds=TraceBounds(truncated=bool(cut), truncated_fields=tuple(cut))) if cut else trace
