"""The results of workflow calls as stored in the journal: redacted, and identical after a crash.

Field names are part of the journal format.
"""

from typing import Literal

from msgspec import Struct

from termvisor.errors import NotDone
from termvisor.model.agent.state import StateName
from termvisor.model.event import Scalar
from termvisor.model.ids import EventId, PaneId, RuntimeId, SessionId
from termvisor.model.terminal.pane import ActivityKind

UNCERTAIN_STATUSES = ("unknown", "typed_not_submitted")
"""Statuses of an action that may or may not have taken effect."""


class Observation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The run's pane at one moment, redacted. Unknown values are empty or None, never guessed."""

    at: int
    pane: PaneId
    is_there: bool = True
    activity: ActivityKind = "unknown"
    is_proven: bool = False
    command: str = ""
    cwd: str = ""
    title: str = ""
    is_alternate: bool = False
    line: int = 0
    """The number of the newest line."""
    screen: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    quiet_for: float | None = None
    """Seconds since the last output; None if unknown."""
    agent: str = ""
    runtime: RuntimeId | None = None
    state: StateName = "unknown"
    state_at: int = 0
    """When the agent entered this state."""
    usage_limited: bool = False
    resets_at: int | None = None
    compacting: bool = False
    auth_needed: bool = False
    session: str = ""
    """The agent's own session id."""
    resume: tuple[str, ...] = ()
    """The argv that resumes the session; empty if it cannot be resumed."""


class WaitResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The condition that was met."""

    what: Literal["text", "pattern", "state", "rule", "prompt", "quiet", "signal", "session", "cleared", "gone"]
    text: str = ""
    """The matching line, the state, the event type, or the signal's word."""
    event: int | None = None
    """The id of the event (for a rule) or of the signal."""
    value: str = ""
    """The value sent with a signal."""


class ActionStepResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of an action: `done`, `delivered`, `queued`, `typed_not_submitted`, `unknown` or `suppressed`."""

    status: str
    at: int = 0
    """When the step started."""
    why: str = ""
    text: str = ""
    correlation: str = ""
    line: int | None = None
    """The number of lines that the pane had printed before the action."""
    mux_pane: str = ""
    """The tmux pane id of a spawned program."""

    def require_certain(self) -> None:
        """Raise ``NotDone`` if it is unknown whether the action took effect. Do not rely on it or repeat it then."""
        if self.status in UNCERTAIN_STATUSES:
            text = f": {self.text}" if self.text else ""
            message = f"it is not known whether it was taken ({self.why}){text}; look at the pane"
            raise NotDone(message, details={"status": "failed", "why": self.status})


class PersonAnswer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """``choice`` is one of the offered choices; empty if there was no answer in time."""

    choice: str = ""
    why: str = ""


class PauseResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a pause ended: it was due, a person resumed it, or the pane or a setting changed."""

    why: Literal["due", "resumed", "changed"]
    text: str = ""
    """A description of the change."""


class ClockReading(Struct, frozen=True, kw_only=True, omit_defaults=True):
    at: int


class TriggerCheckResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    is_so: bool
    why: str = ""


class PreferenceValues(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The settings' values. ``origins`` maps each setting overridden by the project to its file."""

    values: dict[str, Scalar] = {}
    origins: dict[str, str] = {}
    trouble: str = ""
    """The reason why the project's overrides are ignored."""

    def is_on(self, name: str) -> bool:
        return bool(self.values.get(name))

    def get_text(self, name: str) -> str:
        return str(self.values.get(name) or "")


class RecalledDetection(Struct, frozen=True, kw_only=True, omit_defaults=True):
    event: EventId
    at: int
    type: str
    captures: dict[str, str] = {}


class RecallResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    found: tuple[RecalledDetection, ...] = ()  # oldest first

    def find_capture(self, name: str) -> str:
        """Return the newest value of a capture; empty if no detection has it."""
        values = (detection.captures.get(name, "") for detection in reversed(self.found))
        return next((value for value in values if value), "")


class SessionRecord(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A stored session. ``id`` is 0 if there is none."""

    id: SessionId = SessionId(0)
    agent: str = ""
    pane: PaneId | None = None
    runtime: RuntimeId | None = None
    session: str = ""
    """The agent's own id."""
    resume: tuple[str, ...] = ()
    """The argv that resumes it, according to the settings; empty if it cannot be resumed."""
    cwd: str = ""
    title: str = ""
    is_over: bool = False
    end_reason: str = ""
    tokens: dict[str, int] = {}
    cost: float | None = None


class CodeSearchResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """``places`` are redacted `file:line: text` entries; ``trouble`` is why the search was not possible."""

    places: tuple[str, ...] = ()
    trouble: str = ""


class AccountSelection(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The account to continue with; empty if there is none, for the reason in ``why``.

    It is always empty while the setting `failover_profile` is empty.
    """

    account: str = ""
    """A reference such as ``openai/work``."""
    why: str = ""
    remaining: float | None = None
    """Percentage left of its scarcest limit; None if unknown."""
    prefix: tuple[str, ...] = ()
    """The argv prefix that starts a command with this account."""
    shares_sessions: bool = False
    """True if the account can resume sessions of the agent's usual account."""


class EmptyResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    pass


CallResult = (
    Observation
    | WaitResult
    | ActionStepResult
    | PersonAnswer
    | PauseResult
    | ClockReading
    | TriggerCheckResult
    | PreferenceValues
    | RecallResult
    | SessionRecord
    | CodeSearchResult
    | AccountSelection
    | EmptyResult
)
