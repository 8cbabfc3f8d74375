"""Interface of the detection service that operations use."""

from collections.abc import Iterable, Mapping
from typing import Protocol

from termvisor.model.detection.detection import Detection, DetectionFilter, DetectionHandling, DetectionMute
from termvisor.model.detection.match_trace import MatchTrace
from termvisor.model.detection.rule import Rule
from termvisor.model.ids import EventId


class DetectionService(Protocol):
    async def find_by_events(self, events: Iterable[EventId]) -> dict[EventId, Detection]:
        """Return the detections among these events."""

    async def mark_handled(self, event: EventId, handling: DetectionHandling) -> DetectionHandling | None:
        """Record a handling and return the one in force: the first one wins. None if the event does not exist."""

    @property
    def rules(self) -> Mapping[str, Rule]:
        """Return the active rules by id."""

    def trace_match(self, detection: Detection) -> MatchTrace | None:
        """Match the detection's text against its rule again; None if the text was not a line or the rule is gone."""

    @property
    def mutes(self) -> "MuteService": ...

    async def list(self, filters: DetectionFilter) -> list[Detection]:
        """Return detections, oldest first: the first ones after ``filters.after``, else the newest."""


class MuteService(Protocol):
    """Mutes: matching detections are stored and marked as handled at once."""

    async def add_mute(self, mute: DetectionMute) -> DetectionMute: ...

    async def end_mute(self, mute_id: int) -> bool: ...

    async def list(self) -> list[DetectionMute]:
        """Return the active mutes."""
