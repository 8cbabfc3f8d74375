"""A Spot is a place where a rule fits: a text in a pane, on its way to be a detection. Pure."""

from _blake2 import blake2b  # hashlib would load OpenSSL, four megabytes of it
from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.model.detection.detection import Detection, DetectionSource
from termvisor.model.detection.reset_time import ResetTimeContext, parse_reset_time
from termvisor.model.detection.rule import Rule
from termvisor.model.event import Scalar
from termvisor.model.event_types import build_detection_key
from termvisor.model.ids import EpochId, PaneId
from termvisor.pipeline.agent_presence import AgentPresence

LINES_BEFORE = 3
"""Lines before a text that a rule may reach back to, and that a redraw shows again."""
_MAX_CONTEXT_CHARS, _MAX_CAPTURE_CHARS = 500, 400
_LIMIT_END_CAPTURES = {"resets_at": "", "try_again_at": "", "try_again_in": "in "}
"""Captures that say when a limit ends, and the word that stands before them."""


class PatternMatch(Protocol):
    """See `termvisor.detection.scanner.Match`: ``line`` is where it ends."""

    @property
    def rule(self) -> Rule: ...
    @property
    def line(self) -> int: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def captures(self) -> dict[str, str]: ...


class TextLocation(Struct, frozen=True, kw_only=True):
    """Where the texts stand that are looked through."""

    pane: PaneId
    epoch: EpochId
    source: DetectionSource


class RuleMatch(Struct, frozen=True):
    """``bare`` is what stands there; ``detection`` also says whose it is, and is None while that is not known."""

    rule: Rule
    line: int
    unowned_detection: Detection
    detection: Detection | None


def build_detection(location: TextLocation, match: PatternMatch, lines: Sequence[str], line: int, at: int) -> Detection:
    """As it stands on a line among others, before anybody is known whose it is."""
    rule = match.rule
    captures = {name: value[:_MAX_CAPTURE_CHARS] for name, value in match.captures.items()}
    evidence: dict[str, Scalar] = {"epoch": location.epoch, "start": match.start, "end": match.end}
    if (ends_at := find_limit_end(captures, at)) is not None:
        evidence["resets_at"] = ends_at
    return Detection(
        at=at,
        type=rule.event,
        rule=rule.id,
        pane=location.pane,
        severity=rule.severity,
        captures=captures,
        source=location.source,
        evidence=evidence,
        context=_build_context(lines, line),
        confidence=rule.confidence,
        cooldown=rule.cooldown,
        trace=_hash_screen_text(rule, lines, line) if rule.agent else "",
    )


def assign_agent(detection: Detection, rule: Rule, presence: AgentPresence | None) -> Detection:
    """The same as this agent's. A redraw is known by who draws; what nobody draws is new each time."""
    runtime, agent = (None, rule.agent) if presence is None else (presence.agent_process, presence.agent)
    key = build_detection_key(rule.event, rule.agent or rule.id, runtime, detection.captures)
    return replace(detection, runtime=runtime, agent=agent, key=key, trace=detection.trace if runtime else "")


def find_limit_end(captures: dict[str, str], at: int) -> int | None:
    """When a limit ends, by the words that were captured; those without a zone are of this machine's clock."""
    words = next((before + captures[name] for name, before in _LIMIT_END_CAPTURES.items() if name in captures), "")
    zone = datetime.fromtimestamp(at // NS).astimezone().tzinfo if words else None
    return parse_reset_time(words, ResetTimeContext(at, zone, _find_time_zone)) if zone is not None else None


def _find_time_zone(name: str) -> tzinfo | None:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _build_context(lines: Sequence[str], line: int) -> str:
    """The line and those above it: what comes below may not be printed yet. The line itself is what is cut last."""
    own = lines[line][:_MAX_CONTEXT_CHARS]
    room = _MAX_CONTEXT_CHARS - len(own) - 1
    above = "\n".join(lines[max(0, line - LINES_BEFORE) : line])[-room:] if room > 0 else ""
    return f"{above}\n{own}" if above else own


def _hash_screen_text(rule: Rule, lines: Sequence[str], line: int) -> str:
    shown = "\n".join(" ".join(text.split()) for text in lines[max(0, line - LINES_BEFORE) : line + 1])
    return blake2b(f"{rule.id}\n{shown}".encode("utf-8", "replace"), digest_size=8).hexdigest()
