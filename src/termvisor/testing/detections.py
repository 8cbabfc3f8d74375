"""Detections in memory, for tests of operations."""

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from typing import get_args

from msgspec.structs import replace

from termvisor.clock import NS, Clock
from termvisor.model.detection.detection import Detection, DetectionFilter, Handling, Mute
from termvisor.model.detection.match_trace import MatchTrace
from termvisor.model.detection.rule import Rule, Severity
from termvisor.model.event import Event
from termvisor.model.ids import EventId, PaneId, RuntimeId

_SEVERITIES: tuple[Severity, ...] = get_args(Severity)


class MemoryMutes:
    def __init__(self, clock: Clock):
        self._clock = clock
        self.given: list[Mute] = []

    async def add(self, mute: Mute) -> Mute:
        self.given.append(replace(mute, id=len(self.given) + 1))
        return self.given[-1]

    async def end(self, number: int) -> bool:
        left = [mute for mute in self.given if mute.id != number]
        is_there, self.given = len(left) < len(self.given), left
        return is_there

    async def list(self) -> list[Mute]:
        return [mute for mute in self.given if mute.until is None or mute.until > self._clock.now()]


class MemoryDetections:
    """``record`` stores an event and tells it."""

    def __init__(self, clock: Clock, record: Callable[[Event], Event]):
        self._record = record
        self.found: dict[EventId, Detection] = {}
        self.rules: dict[str, Rule] = {}
        self.mutes = MemoryMutes(clock)

    def find(self, detection: Detection) -> Detection:
        """A rule fits."""
        event = self._record(Event(at=detection.at, kind=detection.type, pane=detection.pane, data=detection.told))
        known = replace(detection, event=event.id, last_at=detection.at, correlation=f"event:{event.id}")
        self.found[event.id] = known
        return known

    async def one(self, event: EventId) -> Detection | None:
        return self.found.get(event)

    async def some(self, events: Iterable[EventId]) -> dict[EventId, Detection]:
        return {event: self.found[event] for event in events if event in self.found}

    async def handle(self, event: EventId, handling: Handling) -> Handling | None:
        if event not in self.found:
            return None
        stands = self.found[event].handling or handling
        self.found[event] = replace(self.found[event], handling=stands)
        return stands

    def trace(self, detection: Detection) -> MatchTrace | None:
        return MatchTrace(rule_id=detection.rule) if detection.rule in self.rules else None

    async def list(self, only: DetectionFilter) -> list[Detection]:
        fits = [one for one in self.found.values() if _fits(one, only)]
        return fits[: only.limit] if only.after is not None else fits[-only.limit :]


def _fits(one: Detection, only: DetectionFilter) -> bool:
    return (
        one.event > (only.after or 0)
        and fnmatchcase(one.type, only.type or "*")
        and fnmatchcase(one.rule, only.rule or "*")
        and only.agent in (None, one.agent)
        and only.pane in (None, one.pane)
        and _SEVERITIES.index(one.severity) >= _SEVERITIES.index(only.severity or "info")
        and one.at >= (only.since or 0)
        and not (only.is_unhandled and one.handling)
    )


RULE = Rule(
    id="shell.test_failed",
    pack="core.shell",
    since="0.1",
    scope="line",
    anchors=("test failed",),
    pattern=r"error: (?P<count>\d+) test failed",
    severity="warning",
    event="test.failed",
    why="A test failed.",
    hits=(),
    misses=(),
)


async def detected(found: MemoryDetections, shell: PaneId, agent: PaneId, now: int) -> None:
    """Two things: a limit that somebody saw to, and a failed test; and warnings are muted."""
    found.rules[RULE.id] = RULE
    limit = found.find(
        Detection(
            at=now,
            type="usage.reached",
            rule="signal.usage_limited",
            pane=agent,
            runtime=RuntimeId(12),
            agent="claude_code",
            severity="error",
            captures={"resets_at": "2026-01-01T15:00:00.000Z"},
            source="signal",
            evidence={"signal": 40, "source": "transcript"},
            key="usage.reached runtime:12",
        )
    )
    await found.handle(limit.event, Handling(at=now, by="workflow:handle_usage_limits", action="paused", run=3))
    found.find(
        Detection(
            at=now,
            type="test.failed",
            rule=RULE.id,
            pane=shell,
            severity="warning",
            captures={"count": "1"},
            source="stream",
            evidence={"epoch": 1, "line": 2},
            context="$ make test\nerror: 1 test failed",
            key="test.failed shell.test_failed count=1",
        )
    )
    await found.mutes.add(Mute(what="usage.warning", at=now, until=now + 3600 * NS, by="person:1000"))
