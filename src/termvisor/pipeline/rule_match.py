"""A Spot is a place where a rule fits: a text in a pane, on its way to be a detection. Pure."""

from _blake2 import blake2b  # hashlib would load OpenSSL, four megabytes of it
from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.model.detection.detection import Detection, DetectionSource
from termvisor.model.detection.reset_time import Here, reset_time
from termvisor.model.detection.rule import Rule
from termvisor.model.event import Scalar
from termvisor.model.event_types import key_of
from termvisor.model.ids import EpochId, PaneId
from termvisor.pipeline.agent_presence import Stay

BEFORE = 3
"""Lines before a text that a rule may reach back to, and that a redraw shows again."""
_CONTEXT, _CAPTURE = 500, 400
_ENDS = {"resets_at": "", "try_again_at": "", "try_again_in": "in "}
"""Captures that say when a limit ends, and the word that stands before them."""


class Match(Protocol):
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


class Place(Struct, frozen=True, kw_only=True):
    """Where the texts stand that are looked through."""

    pane: PaneId
    epoch: EpochId
    source: DetectionSource


class Spot(Struct, frozen=True):
    """``bare`` is what stands there; ``detection`` also says whose it is, and is None while that is not known."""

    rule: Rule
    line: int
    bare: Detection
    detection: Detection | None


def bare(place: Place, match: Match, lines: Sequence[str], line: int, at: int) -> Detection:
    """As it stands on a line among others, before anybody is known whose it is."""
    rule = match.rule
    captures = {name: value[:_CAPTURE] for name, value in match.captures.items()}
    evidence: dict[str, Scalar] = {"epoch": place.epoch, "start": match.start, "end": match.end}
    if (ends_at := limit_ends_at(captures, at)) is not None:
        evidence["resets_at"] = ends_at
    return Detection(
        at=at,
        type=rule.event,
        rule=rule.id,
        pane=place.pane,
        severity=rule.severity,
        captures=captures,
        source=place.source,
        evidence=evidence,
        context=_context(lines, line),
        confidence=rule.confidence,
        cooldown=rule.cooldown,
        trace=_trace(rule, lines, line) if rule.agent else "",
    )


def of(detection: Detection, rule: Rule, stay: Stay | None) -> Detection:
    """The same as this agent's. A redraw is known by who draws; what nobody draws is new each time."""
    runtime, agent = (None, rule.agent) if stay is None else (stay.runtime, stay.agent)
    key = key_of(rule.event, rule.agent or rule.id, runtime, detection.captures)
    return replace(detection, runtime=runtime, agent=agent, key=key, trace=detection.trace if runtime else "")


def limit_ends_at(captures: dict[str, str], at: int) -> int | None:
    """When a limit ends, by the words that were captured; those without a zone are of this machine's clock."""
    words = next((before + captures[name] for name, before in _ENDS.items() if name in captures), "")
    zone = datetime.fromtimestamp(at // NS).astimezone().tzinfo if words else None
    return reset_time(words, Here(at, zone, _zone)) if zone is not None else None


def _zone(name: str) -> tzinfo | None:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _context(lines: Sequence[str], line: int) -> str:
    """The line and those above it: what comes below may not be printed yet. The line itself is what is cut last."""
    own = lines[line][:_CONTEXT]
    room = _CONTEXT - len(own) - 1
    above = "\n".join(lines[max(0, line - BEFORE) : line])[-room:] if room > 0 else ""
    return f"{above}\n{own}" if above else own


def _trace(rule: Rule, lines: Sequence[str], line: int) -> str:
    shown = "\n".join(" ".join(text.split()) for text in lines[max(0, line - BEFORE) : line + 1])
    return blake2b(f"{rule.id}\n{shown}".encode("utf-8", "replace"), digest_size=8).hexdigest()
