"""Serve stored detections, mutes and active rules to operations."""

from collections.abc import Iterable, Mapping

from termvisor.daemon.components import Components
from termvisor.model.detection.detection import Detection, DetectionFilter, DetectionHandling, DetectionMute
from termvisor.model.detection.rule import MatchTrace, Rule
from termvisor.model.ids import EventId


class MuteService:
    """Mutes: matching detections are stored but immediately marked as handled."""

    def __init__(self, components: Components):
        self._store, self._clock = components.store.detections, components.clock

    async def add_mute(self, mute: DetectionMute) -> DetectionMute:
        return await self._store.add_mute(mute)

    async def end_mute(self, mute_id: int) -> bool:
        return await self._store.delete_mute(mute_id)

    async def list(self) -> list[DetectionMute]:
        """Return the active mutes."""
        return await self._store.list_mutes(self._clock.now())


class DetectionService:
    def __init__(self, components: Components):
        self._store, self._rule_matcher = components.store.detections, components.pipeline.matcher
        self.mutes = MuteService(components)

    async def find_by_events(self, events: Iterable[EventId]) -> dict[EventId, Detection]:
        """Return the detections among these events."""
        return await self._store.find_many(events)

    async def mark_handled(self, event: EventId, handling: DetectionHandling) -> DetectionHandling | None:
        """Record a handling and return the first one recorded, which wins; None if the event does not exist."""
        return await self._store.handle(event, handling)

    @property
    def rules(self) -> Mapping[str, Rule]:
        """Return the active rules by id."""
        return self._rule_matcher.rules

    def trace_match(self, detection: Detection) -> MatchTrace | None:
        """Match the detection's text against its rule again; return None if it was not a line or the rule is gone."""
        rule = self._rule_matcher.find_rule(detection.rule)
        # Marks and screens are not stored as text that the rule could be matched against.
        if rule is None or rule.scope not in ("line", "stream"):
            return None
        from termvisor.detection.packs.rule_tester import try_rule  # rarely needed: not loaded at start

        return try_rule(rule, detection.context, detection.agent).trace

    async def list(self, filters: DetectionFilter) -> list[Detection]:
        """Return detections, oldest first: the first ones after ``filters.after``, else the newest."""
        return await self._store.list(filters)
