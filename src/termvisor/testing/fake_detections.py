"""A fake detection service for tests of operations."""

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from typing import get_args

from msgspec.structs import replace

from termvisor.clock import NS, Clock
from termvisor.model.detection.detection import Detection, DetectionFilter, DetectionHandling, DetectionMute
from termvisor.model.detection.match_trace import MatchTrace
from termvisor.model.detection.rule import Rule, Severity
from termvisor.model.event import Event
from termvisor.model.ids import EventId, PaneId, RuntimeId

_SEVERITIES: tuple[Severity, ...] = get_args(Severity)


class FakeMutes:
    def __init__(self, clock: Clock):
        self._clock = clock
        self.stored_mutes: list[DetectionMute] = []

    async def add_mute(self, mute: DetectionMute) -> DetectionMute:
        self.stored_mutes.append(replace(mute, id=len(self.stored_mutes) + 1))
        return self.stored_mutes[-1]

    async def end_mute(self, mute_id: int) -> bool:
        remaining = [mute for mute in self.stored_mutes if mute.id != mute_id]
        was_found, self.stored_mutes = len(remaining) < len(self.stored_mutes), remaining
        return was_found

    async def list(self) -> list[DetectionMute]:
        return [mute for mute in self.stored_mutes if mute.until is None or mute.until > self._clock.now()]


class FakeDetections:
    """``record`` stores and publishes an event."""

    def __init__(self, clock: Clock, record: Callable[[Event], Event]):
        self._record = record
        self.detections_by_event: dict[EventId, Detection] = {}
        self.rules: dict[str, Rule] = {}
        self.mutes = FakeMutes(clock)

    def add_detection(self, detection: Detection) -> Detection:
        """Simulate the match of a rule."""
        event = self._record(
            Event(at=detection.at, kind=detection.type, pane=detection.pane, data=detection.event_data)
        )
        stored = replace(detection, event=event.id, last_at=detection.at, correlation=f"event:{event.id}")
        self.detections_by_event[event.id] = stored
        return stored

    async def find(self, event: EventId) -> Detection | None:
        return self.detections_by_event.get(event)

    async def find_by_events(self, events: Iterable[EventId]) -> dict[EventId, Detection]:
        return {event: self.detections_by_event[event] for event in events if event in self.detections_by_event}

    async def mark_handled(self, event: EventId, handling: DetectionHandling) -> DetectionHandling | None:
        if event not in self.detections_by_event:
            return None
        first = self.detections_by_event[event].handling or handling
        self.detections_by_event[event] = replace(self.detections_by_event[event], handling=first)
        return first

    def trace_match(self, detection: Detection) -> MatchTrace | None:
        return MatchTrace(rule_id=detection.rule) if detection.rule in self.rules else None

    async def list(self, filters: DetectionFilter) -> list[Detection]:
        matches = [item for item in self.detections_by_event.values() if _matches_filter(item, filters)]
        return matches[: filters.limit] if filters.after is not None else matches[-filters.limit :]


def _matches_filter(detection: Detection, filters: DetectionFilter) -> bool:
    return (
        detection.event > (filters.after or 0)
        and fnmatchcase(detection.type, filters.type or "*")
        and fnmatchcase(detection.rule, filters.rule or "*")
        and filters.agent in (None, detection.agent)
        and filters.pane in (None, detection.pane)
        and _SEVERITIES.index(detection.severity) >= _SEVERITIES.index(filters.severity or "info")
        and detection.at >= (filters.since or 0)
        and not (filters.is_unhandled and detection.handling)
    )


SAMPLE_RULE = Rule(
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


async def add_sample_detections(detections: FakeDetections, shell: PaneId, agent: PaneId, now: int) -> None:
    """Add a usage limit that a workflow handled, a failed test, and a mute."""
    detections.rules[SAMPLE_RULE.id] = SAMPLE_RULE
    limit = detections.add_detection(
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
    await detections.mark_handled(
        limit.event, DetectionHandling(at=now, by="workflow:handle_usage_limits", action="paused", run=3)
    )
    detections.add_detection(
        Detection(
            at=now,
            type="test.failed",
            rule=SAMPLE_RULE.id,
            pane=shell,
            severity="warning",
            captures={"count": "1"},
            source="stream",
            evidence={"epoch": 1, "line": 2},
            context="$ make test\nerror: 1 test failed",
            key="test.failed shell.test_failed count=1",
        )
    )
    await detections.mutes.add_mute(
        DetectionMute(what="usage.warning", at=now, until=now + 3600 * NS, by="person:1000")
    )
