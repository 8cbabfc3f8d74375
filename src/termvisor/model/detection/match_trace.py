"""How a rule came to its word about a text: which looks it took, and where. Never the text itself.

Bounded, so that it can be stored and shown anywhere: at most `MAX_SPANS` spans and `MAX_BYTES` bytes of JSON.
"""

from typing import Literal

from msgspec import Struct

MAX_SPANS = 8
MAX_BYTES = 4096
TraceSpanKind = Literal["anchor", "regex", "context"]
TraceStageName = Literal["agent", "anchor", "regex", "captures"]


class TraceSpan(Struct, frozen=True, kw_only=True):
    """Characters of the text that was looked at, by index; ``capture_keys`` are the captures that stand there."""

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
    """Values are left out, whatever they are."""

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
