"""What rules found, as operations see it."""

from collections.abc import Iterable, Mapping
from typing import Protocol

from termvisor.model.detection.detection import Detection, DetectionFilter, Handling, Mute
from termvisor.model.detection.match_trace import MatchTrace
from termvisor.model.detection.rule import Rule
from termvisor.model.ids import EventId


class Detections(Protocol):
    async def some(self, events: Iterable[EventId]) -> dict[EventId, Detection]:
        """Those of these events that are detections."""

    async def handle(self, event: EventId, handling: Handling) -> Handling | None:
        """The handling that stands now: this one, or that of whoever was first. None where there is no such event."""

    @property
    def rules(self) -> Mapping[str, Rule]:
        """Those in force, by id."""

    def trace(self, detection: Detection) -> MatchTrace | None:
        """How its rule reads its text now; None where the text was no line, or the rule is gone."""

    @property
    def mutes(self) -> "Mutes": ...

    async def list(self, only: DetectionFilter) -> list[Detection]:
        """Oldest first: with ``after`` the first ones beyond that event, else the newest."""


class Mutes(Protocol):
    """What is stored and counts as handled at once."""

    async def add(self, mute: Mute) -> Mute: ...

    async def end(self, number: int) -> bool: ...

    async def list(self) -> list[Mute]:
        """Those that hold."""
