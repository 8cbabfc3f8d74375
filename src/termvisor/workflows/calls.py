"""Define the calls of workflows and their results; each call becomes one journaled step.

A call holds everything that defines it in its fields, so that a replay can detect a changed workflow. A result is what
the journal stores: redacted, and the same again after a crash. Tags and field names are part of the journal's format.
"""

from typing import Literal

from msgspec import Struct

from termvisor.errors import NotDone
from termvisor.model.action.action import Action, NotificationWay
from termvisor.model.agent.state import StateName
from termvisor.model.event import Scalar
from termvisor.model.ids import EventId, PaneId, RuntimeId, SessionId
from termvisor.model.terminal.pane import ActivityKind
from termvisor.workflows.account_failover import AccountSelection, SelectAccountCall

WAIT_CONDITIONS = ("text", "pattern", "state", "rule", "prompt", "quiet", "signal", "session", "cleared", "gone")
"""The fields of ``WaitFor`` that are conditions."""
UNCERTAIN_STATUSES = ("unknown", "typed_not_submitted")
"""Statuses of an action that may or may not have arrived."""
DEFAULT_WAIT_TIMEOUT_S = 30.0
"""Seconds that a step waits by default."""


class RetryPolicy(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How often an action is tried if the pane was not ready: a user typed in it, it was reserved, …"""

    times: int = 4
    first: float = 2.0
    """Seconds before the second attempt; the delay doubles with each further one."""
    most: float = 60.0

    def compute_delay(self, attempt: int) -> float:
        """Return the seconds to wait after this attempt, counted from 1."""
        return float(min(self.most, self.first * 2 ** min(attempt - 1, 20)))


class SendTextRequest(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="send"):
    """A text for the agent in the run's pane, or for the shell at its prompt if there is no agent."""

    text: str
    enter: bool = True


class PressKeysRequest(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="keys"):
    """Keys for the run's pane, by their tmux names."""

    keys: tuple[str, ...]


class SpawnRequest(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="spawn"):
    """A program in a new window of the run's session, or in a new pane that splits the run's pane."""

    command: tuple[str, ...]
    cwd: str = ""
    name: str = ""
    where: Literal["window", "pane"] = "window"
    env: dict[str, str] = {}
    account: str = ""
    """The account under which it starts, such as ``openai/work``; see `account_failover`."""
    keeps_failure: bool = False
    """Keep the pane open if the program fails, so that a person sees why."""


class NotifyRequest(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="notify"):
    title: str
    text: str
    way: NotificationWay = "terminal"


PaneRequest = SendTextRequest | PressKeysRequest | SpawnRequest | NotifyRequest
"""An action on the run's own pane; the ``Action`` is built from it when the step is executed."""


class ObserveCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="observe"):
    lines: int = 50
    """How many of the last lines to return."""


class WaitFor(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="wait_for"):
    """Exactly one condition to wait for. A ``text`` or ``pattern`` matches if it was printed after the last action, or
    if the screen of an agent or full-screen program shows it."""

    text: str = ""
    pattern: str = ""
    state: tuple[StateName, ...] = ()
    rule: str = ""
    """The id of a rule, or an event type."""
    prompt: bool = False
    quiet: float = 0.0
    """Seconds without output."""
    signal: str = ""
    """A signal that a person or program sends: `visor workflow signal <run> <word>`."""
    is_new: bool = False
    """For ``state``: it must have been entered after the last action."""
    session: str = ""
    """The agent in the pane has the session with this id."""
    cleared: Literal["", "auth_needed", "usage_limited", "compacting"] = ""
    """The agent is in the pane, and this flag is not set."""
    gone: str = ""
    """The screen does not show this text."""
    timeout: float = DEFAULT_WAIT_TIMEOUT_S


class ActionCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="act"):
    """One action for the gate: ``wish`` on the run's own pane, or any ``action``."""

    wish: PaneRequest | None = None
    action: Action | None = None
    retry: RetryPolicy = RetryPolicy()


class AskPersonCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="ask_person"):
    question: str
    choices: tuple[str, ...] = ("yes", "no")
    expires: float = 600.0
    unless: WaitFor | None = None
    """The condition that settles the question; then it is withdrawn."""


class SleepUntilCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="sleep_until"):
    at: int


class PauseCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="pause"):
    """A pause that also ends when one of the given conditions no longer holds."""

    plan: str
    until: int | None = None
    runtime: RuntimeId | None = None
    """The agent process that must stay in the pane."""
    unless: tuple[StateName, ...] = ()
    """States that the agent must not enter."""
    needs: tuple[str, ...] = ()
    """Settings that must stay enabled."""


class TriggerCheckCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="still"):
    """Check whether the pane still shows what started the run: the given text, else the event's evidence."""

    text: str = ""
    lines: int = 50


class PreferencesCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="prefer"):
    """Read settings of the user; a few of them can be overridden by the pane's project."""

    names: tuple[str, ...]


class RecallCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="recall"):
    """List recent detections in the run's pane by event type; patterns such as `usage.*` are allowed."""

    event: str
    within: float = 600.0  # seconds before now


class LastSessionCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="last_session"):
    """Find the current or last session of the run's pane, optionally of one agent process or with one id."""

    runtime: RuntimeId | None = None
    session: str = ""
    anywhere: bool = False
    """Search all panes, not only the run's."""


class SessionUpdateCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="keep"):
    """Add missing values to an ended session."""

    session: SessionId
    external_id: str = ""
    tokens: dict[str, int] = {}
    """By kind: `total`, `input`, `cached`, `output`, `reasoning`."""


class SearchCodeCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="search_code"):
    """Find these names in the code of the pane's folder."""

    names: tuple[str, ...]


class NoteCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="note"):
    text: str


class ClockCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="now"):
    pass


WorkflowCall = (
    ObserveCall
    | WaitFor
    | ActionCall
    | AskPersonCall
    | SleepUntilCall
    | PauseCall
    | TriggerCheckCall
    | PreferencesCall
    | RecallCall
    | LastSessionCall
    | SessionUpdateCall
    | SearchCodeCall
    | SelectAccountCall
    | NoteCall
    | ClockCall
)


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
    """Seconds since the last output."""
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
    """The argv that resumes the session; empty if that is not possible."""


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
    """The outcome of an action: `done`, `delivered`, `typed_not_submitted`, `unknown` or `suppressed`."""

    status: str
    at: int = 0
    """When the step started."""
    why: str = ""
    text: str = ""
    correlation: str = ""
    line: int | None = None
    """How many lines the pane had printed before the action."""
    mux_pane: str = ""
    """The tmux pane id of a spawned program."""

    def require_certain(self) -> None:
        """Raise ``NotDone`` if the action may or may not have arrived: nothing may depend on it, nor repeat it."""
        if self.status in UNCERTAIN_STATUSES:
            text = f": {self.text}" if self.text else ""
            message = f"it is not known whether it was taken ({self.why}){text}; look at the pane"
            raise NotDone(message, details={"status": "failed", "why": self.status})


class PersonAnswer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """``choice`` is one of the choices; empty if there was no answer in time."""

    choice: str = ""
    why: str = ""


class PauseResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a pause ended: it was due, a person resumed it, or the pane or a setting changed."""

    why: Literal["due", "resumed", "changed"]
    text: str = ""
    """What changed."""


class ClockReading(Struct, frozen=True, kw_only=True, omit_defaults=True):
    at: int


class TriggerCheckResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    is_so: bool
    why: str = ""


class PreferenceValues(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The settings' values; ``origins`` names the file of each that the project overrides."""

    values: dict[str, Scalar] = {}
    origins: dict[str, str] = {}
    trouble: str = ""
    """Why the project's overrides are ignored."""

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
    """A stored session; ``id`` is 0 if there is none."""

    id: SessionId = SessionId(0)
    agent: str = ""
    pane: PaneId | None = None
    runtime: RuntimeId | None = None
    session: str = ""
    """The agent's own id."""
    resume: tuple[str, ...] = ()
    """The argv that resumes it, according to the settings; empty if that is not possible."""
    cwd: str = ""
    title: str = ""
    is_over: bool = False
    end_reason: str = ""
    tokens: dict[str, int] = {}
    cost: float | None = None


class CodeSearchResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """``places`` as `file:line: text`, redacted; ``trouble`` says why the search was not possible."""

    places: tuple[str, ...] = ()
    trouble: str = ""


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
RESULT_TYPES: dict[type[Struct], type[Struct]] = {
    ObserveCall: Observation,
    WaitFor: WaitResult,
    ActionCall: ActionStepResult,
    AskPersonCall: PersonAnswer,
    SleepUntilCall: ClockReading,
    PauseCall: PauseResult,
    TriggerCheckCall: TriggerCheckResult,
    PreferencesCall: PreferenceValues,
    RecallCall: RecallResult,
    LastSessionCall: SessionRecord,
    SessionUpdateCall: SessionRecord,
    SearchCodeCall: CodeSearchResult,
    SelectAccountCall: AccountSelection,
    NoteCall: EmptyResult,
    ClockCall: ClockReading,
}
"""The result type of each call."""

WAITING_STEP_KINDS = ("ask_person", "sleep_until", "pause")
"""Steps in which a run only waits for a person or a time: it occupies no slot and uses none of its work time."""
