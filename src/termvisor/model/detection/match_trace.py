"""How a rule came to its word about a text: which looks it took, and where. Never the text itself.

Bounded, so that it can be stored and shown anywhere: at most `MAX_SPANS` spans and `MAX_BYTES` bytes of JSON.
"""

from typing import Literal

from msgspec import Struct

MAX_SPANS = 8
MAX_BYTES = 4096
SpanKind = Literal["anchor", "regex", "context"]
Stage = Literal["agent", "anchor", "regex", "captures"]


class Span(Struct, frozen=True, kw_only=True):
    """Characters of the text that was looked at, by index; ``capture_keys`` are the captures that stand there."""

    start: int
    end: int
    kind: SpanKind
    capture_keys: tuple[str, ...] = ()


class Look(Struct, frozen=True, kw_only=True):
    """One stage. ``hits`` are labels of the rule, such as `anchors[0]`."""

    stage: Stage
    matched: bool
    hits: tuple[str, ...] = ()


class Bounds(Struct, frozen=True, kw_only=True):
    max_spans: int = MAX_SPANS
    max_bytes: int = MAX_BYTES
    truncated: bool = False
    truncated_fields: tuple[str, ...] = ()


class Redaction(Struct, frozen=True, kw_only=True):
    """Values are left out, whatever they are."""

    enabled: bool = True
    policy: Literal["omit_values"] = "omit_values"
    redacted_fields: tuple[str, ...] = ()


class MatchTrace(Struct, frozen=True, kw_only=True):
    rule_id: str
    spans: tuple[Span, ...] = ()
    extracted_keys: tuple[str, ...] = ()
    confidence: float | None = None
    eval_path: tuple[Look, ...] = ()
    bounds: Bounds = Bounds()
    redaction: Redaction = Redaction()
