"""What rules found, for operations: the store, and the rules in force."""

from collections.abc import Iterable, Mapping

from termvisor.daemon.components import Parts
from termvisor.model.detection.detection import Detection, DetectionFilter, Handling, Mute
from termvisor.model.detection.match_trace import MatchTrace
from termvisor.model.detection.rule import Rule
from termvisor.model.ids import EventId


class LiveMutes:
    def __init__(self, parts: Parts):
        self._store, self._clock = parts.store.detections, parts.clock

    async def add(self, mute: Mute) -> Mute:
        return await self._store.mute(mute)

    async def end(self, number: int) -> bool:
        return await self._store.unmute(number)

    async def list(self) -> list[Mute]:
        return await self._store.mutes(self._clock.now())


class LiveDetections:
    def __init__(self, parts: Parts):
        self._store, self._spotter = parts.store.detections, parts.pipeline.spotter
        self.mutes = LiveMutes(parts)

    async def one(self, event: EventId) -> Detection | None:
        return await self._store.one(event)

    async def some(self, events: Iterable[EventId]) -> dict[EventId, Detection]:
        return await self._store.some(events)

    async def handle(self, event: EventId, handling: Handling) -> Handling | None:
        return await self._store.handle(event, handling)

    @property
    def rules(self) -> Mapping[str, Rule]:
        return self._spotter.rules

    def trace(self, detection: Detection) -> MatchTrace | None:
        rule = self._spotter.rule(detection.rule)
        if rule is None or rule.scope not in ("line", "stream"):
            return None
        from termvisor.detection.packs.rule_tester import tried

        return tried(rule, detection.context, detection.agent).trace

    async def list(self, only: DetectionFilter) -> list[Detection]:
        return await self._store.list(only)
