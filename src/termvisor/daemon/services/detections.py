"""Serve stored detections, mutes and active rules to operations."""

from collections.abc import Iterable, Mapping

from termvisor.daemon.components import Components
from termvisor.model.detection.detection import Detection, DetectionFilter, DetectionHandling, DetectionMute
from termvisor.model.detection.match_trace import MatchTrace
from termvisor.model.detection.rule import Rule
from termvisor.model.ids import EventId


class DaemonMutes:
    def __init__(self, components: Components):
        self._store, self._clock = components.store.detections, components.clock

    async def add_mute(self, mute: DetectionMute) -> DetectionMute:
        return await self._store.add_mute(mute)

    async def end_mute(self, mute_id: int) -> bool:
        return await self._store.delete_mute(mute_id)

    async def list(self) -> list[DetectionMute]:
        return await self._store.list_mutes(self._clock.now())


class DaemonDetections:
    def __init__(self, components: Components):
        self._store, self._rule_matcher = components.store.detections, components.pipeline.matcher
        self.mutes = DaemonMutes(components)

    async def find(self, event: EventId) -> Detection | None:
        return await self._store.find(event)

    async def find_by_events(self, events: Iterable[EventId]) -> dict[EventId, Detection]:
        return await self._store.find_many(events)

    async def mark_handled(self, event: EventId, handling: DetectionHandling) -> DetectionHandling | None:
        return await self._store.handle(event, handling)

    @property
    def rules(self) -> Mapping[str, Rule]:
        return self._rule_matcher.rules

    def trace_match(self, detection: Detection) -> MatchTrace | None:
        rule = self._rule_matcher.find_rule(detection.rule)
        if rule is None or rule.scope not in ("line", "stream"):
            return None
        from termvisor.detection.packs.rule_tester import try_rule  # rarely needed: not loaded at start

        return try_rule(rule, detection.context, detection.agent).trace

    async def list(self, filters: DetectionFilter) -> list[Detection]:
        return await self._store.list(filters)
