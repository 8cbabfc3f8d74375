"""Detections: a rule matched, or the agent reported the same through a signal.

A detection is stored as an event whose kind is the detection's type, plus its own fields. Once handled by a workflow
run, a person or a mute, it stays handled.
"""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from termvisor.model.detection.rule import Severity
from termvisor.model.event import ONE_PER_AGENT_TYPES, Scalar
from termvisor.model.ids import EventId, PaneId, RuntimeId

DetectionSource = Literal["stream", "screen", "transcript", "mark", "signal", "user_var"]
_MAX_KEY_CHARS = 200
_VOLATILE_CAPTURES = ("resets_at", "try_again_at")
"""Captures of end times. A repeated text may word them differently, so they are not part of the key."""


class DetectionHandling(Struct, frozen=True, kw_only=True):
    """Who handled a detection, when and how."""

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
    """The event type, such as `usage.reached` or `session.compaction`."""
    rule: str
    """The rule that matched; `signal.<flag>` if the agent reported it."""
    pane: PaneId
    runtime: RuntimeId | None = None
    agent: str = ""
    severity: Severity = "info"
    captures: dict[str, str] = {}
    source: DetectionSource
    evidence: dict[str, Scalar] = {}
    """Where it was found: line number, epoch and offset, screen or signal."""
    context: str = ""
    """The redacted text around it, at most 500 characters."""
    confidence: float = 1.0
    key: str = ""
    """Identifies repetitions across sources. A key is reported once within the cooldown."""
    cooldown: float = 60.0
    """Seconds within which the same key in the same pane counts as a repetition."""
    trace: str = ""
    """Hash of an agent's text and the text before it, to recognize a redraw even much later."""
    seen_again: int = 0
    last_at: int | None = None
    """Time of the last repetition."""
    correlation: str = ""
    """Links the detection to the actions that follow from it."""
    handling: DetectionHandling | None = None

    @property
    def can_start_workflow(self) -> bool:
        """Return False for unproven user variables, which any program can set."""
        return self.evidence.get("proven") is not False

    @property
    def event_data(self) -> dict[str, Scalar]:
        """The data of its event."""
        fields = {"rule": self.rule, "agent": self.agent, "severity": self.severity, "source": self.source}
        return {**fields, **{f"captures.{name}": value for name, value in self.captures.items()}}


class DetectionFilter(Struct, frozen=True, kw_only=True):
    """Filter for detections. ``type`` and ``rule`` may be globs."""

    type: str | None = None
    rule: str | None = None
    agent: str | None = None
    pane: PaneId | None = None
    severity: Severity | None = None
    """Minimum severity."""
    since: int | None = None
    is_unhandled: bool = False
    after: int | None = None
    """Return the first detections after this event; if None, return the newest ones."""
    limit: int = 20


class DetectionMute(Struct, frozen=True, kw_only=True):
    """A mute. Matching detections are stored as already handled."""

    id: int = 0
    what: str
    """A rule, a type, or a glob of either."""
    pane: PaneId | None = None
    at: int
    until: int | None = None
    by: str = ""


def build_event_correlation(event: EventId) -> str:
    """Return the correlation of an event. Those of the runs, actions and audit entries that follow begin with it."""
    return f"event:{event}"


def build_detection_key(kind: str, subject: str, runtime: RuntimeId | None, captures: Mapping[str, str]) -> str:
    """Return the key that identifies repeated detections. ``subject`` is the agent concerned, or the rule."""
    if kind in ONE_PER_AGENT_TYPES:
        return kind if runtime is None else f"{kind} runtime:{runtime}"
    stable = " ".join(f"{name}={value}" for name, value in sorted(captures.items()) if name not in _VOLATILE_CAPTURES)
    return f"{kind} {subject} {stable}".strip()[:_MAX_KEY_CHARS]
