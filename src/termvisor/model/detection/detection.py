"""A Detection is a rule that matched, or a word of the agent itself that means the same: an event with its evidence.

It is stored as an event whose kind is the detection's type, and beside it what only detections have. What is handled
stays handled: by a run, by a person, or because it was muted.
"""

from typing import Literal

from msgspec import Struct

from termvisor.model.detection.rule import Severity
from termvisor.model.event import Scalar
from termvisor.model.ids import EventId, PaneId, RuntimeId

DetectionSource = Literal["stream", "screen", "transcript", "mark", "signal", "user_var"]


class DetectionHandling(Struct, frozen=True, kw_only=True):
    """Who saw to it, when, and what they did."""

    at: int
    by: str
    """`person:1000`, `workflow:handle_compaction`, `mute:<rule or glob>`."""
    action: str = ""
    run: int | None = None


class Detection(Struct, frozen=True, kw_only=True):
    event: EventId = EventId(0)
    """0 until it is stored."""
    at: int
    type: str
    """`usage.reached`, `session.compaction`, …"""
    rule: str
    """The rule that matched; `signal.<flag>` where the agent itself said so."""
    pane: PaneId
    runtime: RuntimeId | None = None
    agent: str = ""
    severity: Severity = "info"
    captures: dict[str, str] = {}
    source: DetectionSource
    evidence: dict[str, Scalar] = {}
    """Where it stands: line number, epoch and offset, screen, signal."""
    context: str = ""
    """The redacted text around it, at most 500 characters."""
    confidence: float = 1.0
    key: str = ""
    """The same for the same thing seen again, however it was seen; what is told once within a cooldown."""
    cooldown: float = 60.0
    """Seconds for which the same key in the same pane is the same thing."""
    trace: str = ""
    """Of an agent's text and what stood before it: a redraw shows the same again, however much later."""
    seen_again: int = 0
    last_at: int | None = None
    """When the same was last seen."""
    correlation: str = ""
    """The story that all that follows belongs to."""
    handling: DetectionHandling | None = None

    @property
    def can_start_workflow(self) -> bool:
        """Whether it may start anything that acts: what anybody could have said, and nobody proved, may not."""
        return self.evidence.get("proven") is not False

    @property
    def event_data(self) -> dict[str, Scalar]:
        """As the data of its event."""
        known = {"rule": self.rule, "agent": self.agent, "severity": self.severity, "source": self.source}
        return {**known, **{f"captures.{name}": value for name, value in self.captures.items()}}


class DetectionFilter(Struct, frozen=True, kw_only=True):
    """Which detections are meant. ``type`` and ``rule`` may hold the signs of a glob."""

    type: str | None = None
    rule: str | None = None
    agent: str | None = None
    pane: PaneId | None = None
    severity: Severity | None = None
    """At least so severe."""
    since: int | None = None
    is_unhandled: bool = False
    after: int | None = None
    """Events beyond this one, the first ones; without it, the newest ones."""
    limit: int = 20


class DetectionMute(Struct, frozen=True, kw_only=True):
    """What fits it is stored and counts as handled at once."""

    id: int = 0
    what: str
    """A rule, a type, or a glob of either."""
    pane: PaneId | None = None
    at: int
    until: int | None = None
    by: str = ""
