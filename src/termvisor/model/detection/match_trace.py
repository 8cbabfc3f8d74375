"""Trace of how a rule was matched against a text: stages and positions, never the text itself.

Its size is limited to `MAX_SPANS` spans and `MAX_BYTES` bytes of JSON.
"""

from typing import Literal

from msgspec import Struct

MAX_SPANS = 8
MAX_BYTES = 4096
TraceSpanKind = Literal["anchor", "regex", "context"]
TraceStageName = Literal["agent", "anchor", "regex", "captures"]


class TraceSpan(Struct, frozen=True, kw_only=True):
    """Character positions in the matched text; ``capture_keys`` are the captures at these positions."""

    start: int
    end: int
    kind: TraceSpanKind
    capture_keys: tuple[str, ...] = ()


class TraceStage(Struct, frozen=True, kw_only=True):
    """One stage. ``hits`` are labels of the rule, such as `anchors[0]`."""

    stage: TraceStageName
    matched: bool
    hits: tuple[str, ...] = ()


class TraceBounds(Struct, frozen=True, kw_only=True):
    max_spans: int = MAX_SPANS
    max_bytes: int = MAX_BYTES
    truncated: bool = False
    truncated_fields: tuple[str, ...] = ()


class TraceRedaction(Struct, frozen=True, kw_only=True):
    """Captured values are always omitted."""

    enabled: bool = True
    policy: Literal["omit_values"] = "omit_values"
    redacted_fields: tuple[str, ...] = ()


class MatchTrace(Struct, frozen=True, kw_only=True):
    rule_id: str
    spans: tuple[TraceSpan, ...] = ()
    extracted_keys: tuple[str, ...] = ()
    confidence: float | None = None
    eval_path: tuple[TraceStage, ...] = ()
    bounds: TraceBounds = TraceBounds()
    redaction: TraceRedaction = TraceRedaction()
