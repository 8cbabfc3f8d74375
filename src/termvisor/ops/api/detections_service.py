"""What rules found, as operations see it."""

from collections.abc import Iterable, Mapping
from typing import Protocol

from termvisor.model.detection.detection import Detection, DetectionFilter, DetectionHandling, DetectionMute
from termvisor.model.detection.match_trace import MatchTrace
from termvisor.model.detection.rule import Rule
from termvisor.model.ids import EventId


class DetectionService(Protocol):
    async def find_by_events(self, events: Iterable[EventId]) -> dict[EventId, Detection]:
        """Those of these events that are detections."""

    async def mark_handled(self, event: EventId, handling: DetectionHandling) -> DetectionHandling | None:
        """The handling that stands now: this one, or that of whoever was first. None where there is no such event."""

    @property
    def rules(self) -> Mapping[str, Rule]:
        """Those in force, by id."""

    def trace_match(self, detection: Detection) -> MatchTrace | None:
        """How its rule reads its text now; None where the text was no line, or the rule is gone."""

    @property
    def mutes(self) -> "MuteService": ...

    async def list(self, filters: DetectionFilter) -> list[Detection]:
        """Oldest first: with ``after`` the first ones beyond that event, else the newest."""


class MuteService(Protocol):
    """What is stored and counts as handled at once."""

    async def add_mute(self, mute: DetectionMute) -> DetectionMute: ...

    async def end_mute(self, mute_id: int) -> bool: ...

    async def list(self) -> list[DetectionMute]:
        """Those that hold."""
