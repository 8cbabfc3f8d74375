"""What a workflow may ask of the world: each call becomes one journaled step, and what comes of it is a value.

A call says everything that it means in its fields, so that the journal can tell whether a replayed run still asks for
the same. What comes back is what the journal keeps: redacted, and the same again after a crash.
"""

from typing import Literal

from msgspec import Struct

from termvisor.model.action.action import Action, NotificationWay
from termvisor.model.agent.state import StateName
from termvisor.model.event import Scalar
from termvisor.model.ids import EventId, PaneId, RuntimeId, SessionId
from termvisor.model.terminal.pane import ActivityKind
from termvisor.workflows.account_failover import AccountSelection, SelectAccountCall

WAIT_CONDITIONS = ("text", "pattern", "state", "rule", "prompt", "quiet", "signal", "session", "cleared", "gone")
"""What can be waited for."""
DEFAULT_WAIT_TIMEOUT_S = 30.0
"""Seconds that a step waits where nothing else is said."""


class RetryPolicy(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How often an act is tried that the pane was not ready for: somebody typed there, it was reserved, …"""

    times: int = 4
    first: float = 2.0
    """Seconds before the second try; each further one waits twice as long."""
    most: float = 60.0

    def compute_delay(self, attempt: int) -> float:
        """How long to wait after this attempt, counted from 1."""
        return float(min(self.most, self.first * 2 ** min(attempt - 1, 20)))


class SendTextRequest(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="send"):
    """A text for the agent in the run's pane, or for the shell at its prompt where no agent lives."""

    text: str
    enter: bool = True


class PressKeysRequest(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="keys"):
    """Keys for the run's pane, by tmux's names."""

    keys: tuple[str, ...]


class SpawnRequest(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="spawn"):
    """A program in a new window beside the run's pane, or in a new pane that splits it."""

    command: tuple[str, ...]
    cwd: str = ""
    name: str = ""
    where: Literal["window", "pane"] = "window"
    env: dict[str, str] = {}
    account: str = ""
    """The account under which it starts, such as ``openai/work``; see `failover`."""
    keeps_failure: bool = False
    """Whether its pane stays where it ends with an error, so that a person sees why."""


class NotifyRequest(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="notify"):
    """A word to a person."""

    title: str
    text: str
    way: NotificationWay = "terminal"


PaneRequest = SendTextRequest | PressKeysRequest | SpawnRequest | NotifyRequest
"""What is wanted of the run's own pane; the Action is made of it when the step is taken."""


class ObserveCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="observe"):
    lines: int = 50
    """How many of the last lines are wanted."""


class WaitFor(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="wait_for"):
    """Exactly one thing to wait for. A ``text`` or ``pattern`` counts when it was printed after the last act, or when
    the screen of an agent or full-screen program shows it."""

    text: str = ""
    pattern: str = ""
    state: tuple[StateName, ...] = ()
    rule: str = ""
    """A rule's id, or the type of an event."""
    prompt: bool = False
    quiet: float = 0.0
    """Seconds without output."""
    signal: str = ""
    """A word that a person or program gives: `visor workflow signal <run> <word>`."""
    is_new: bool = False
    """Of a state: one that the agent came into after the last act."""
    session: str = ""
    """The agent in the pane has this conversation, by its own id of it."""
    cleared: Literal["", "auth_needed", "usage_limited", "compacting"] = ""
    """The agent is there, and this is no longer so."""
    gone: str = ""
    """A text that the screen shows no more."""
    timeout: float = DEFAULT_WAIT_TIMEOUT_S


class ActionCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="act"):
    """One thing to do, through the gate."""

    wish: PaneRequest | None = None
    action: Action | None = None
    retry: RetryPolicy = RetryPolicy()


class AskPersonCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="ask_person"):
    question: str
    choices: tuple[str, ...] = ("yes", "no")
    expires: float = 600.0
    unless: WaitFor | None = None
    """What makes the question needless when it comes; then it is withdrawn."""


class SleepUntilCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="sleep_until"):
    at: int


class PauseCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="pause"):
    """It also ends when the pane is no longer as it was left, as far as is said here."""

    plan: str
    until: int | None = None
    runtime: RuntimeId | None = None
    """The agent that must stay."""
    unless: tuple[StateName, ...] = ()
    """States that the agent must not come into."""
    needs: tuple[str, ...] = ()
    """Settings that must stay on."""


class TriggerCheckCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="still"):
    """Whether what started the run is still to be seen: the given text, else the event's own evidence."""

    text: str = ""
    lines: int = 50


class PreferencesCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="prefer"):
    """What the person wants, by the names of settings; a few of them may also be said by the pane's project."""

    names: tuple[str, ...]


class RecallCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="recall"):
    """What was detected in the run's pane lately, by the type of its event; `usage.*` means all of those."""

    event: str
    within: float = 600.0
    """Seconds before now."""


class LastSessionCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="last_session"):
    """The conversation that goes on in the run's pane or ended there last; with a runtime, of that agent's process;
    with a session, the one that has this name."""

    runtime: RuntimeId | None = None
    session: str = ""
    anywhere: bool = False
    """In all panes, not only in the run's."""


class SessionUpdateCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="keep"):
    """Add to the record of a conversation that is over what it does not say yet."""

    session: SessionId
    external_id: str = ""
    tokens: dict[str, int] = {}
    """By the names of a Usage: `total`, `input`, `cached`, `output`, `reasoning`."""


class SearchCodeCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="search_code"):
    """Where these names stand in the code of the pane's folder, by its structure."""

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
    """The run's pane as it was at one moment, redacted. What is not known is empty or None, never guessed."""

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
    """The number of its newest line."""
    screen: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    quiet_for: float | None = None
    """Seconds since it printed something."""
    agent: str = ""
    runtime: RuntimeId | None = None
    state: StateName = "unknown"
    state_at: int = 0
    """Since when it is in this state."""
    usage_limited: bool = False
    resets_at: int | None = None
    compacting: bool = False
    auth_needed: bool = False
    session: str = ""
    """The agent's own id of its conversation."""
    resume: tuple[str, ...] = ()
    """The argv that takes the conversation up again; empty where that is not possible."""


class WaitResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was waited for came."""

    what: Literal["text", "pattern", "state", "rule", "prompt", "quiet", "signal", "session", "cleared", "gone"]
    text: str = ""
    """The line that fits, the state, the event's type, or the signal's word."""
    event: int | None = None
    """Of a rule: the event. Of a signal: its number."""
    value: str = ""
    """What was given beside a signal's word."""


class ActionStepResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of an act that was done: `done`, `delivered`, `typed_not_submitted`, `unknown` or `suppressed`."""

    status: str
    at: int = 0
    """When it was begun."""
    why: str = ""
    text: str = ""
    correlation: str = ""
    line: int | None = None
    """How many lines the pane had printed before it."""
    mux_pane: str = ""
    """Of a program that was started: what the multiplexer calls its pane."""


class PersonAnswer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """``choice`` is one of the choices; empty where nobody answered in time."""

    choice: str = ""
    why: str = ""


class PauseResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a pause ended: its time came, a person went on, or the pane is no longer as it was left."""

    why: Literal["due", "resumed", "changed"]
    text: str = ""
    """What is no longer as it was."""


class ClockReading(Struct, frozen=True, kw_only=True, omit_defaults=True):
    at: int


class TriggerCheckResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    is_so: bool
    why: str = ""


class PreferenceValues(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """``values`` holds what is set. ``origins`` says of what the project set, in which file."""

    values: dict[str, Scalar] = {}
    origins: dict[str, str] = {}
    trouble: str = ""
    """Why what the project says does not count."""

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
    """Oldest first."""

    found: tuple[RecalledDetection, ...] = ()

    def find_capture(self, name: str) -> str:
        """The newest value of a capture; empty where nothing has it."""
        return next((one.captures[name] for one in reversed(self.found) if one.captures.get(name)), "")


class SessionRecord(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is on record of one; ``id`` is 0 where there is none."""

    id: SessionId = SessionId(0)
    agent: str = ""
    pane: PaneId | None = None
    runtime: RuntimeId | None = None
    session: str = ""
    """The agent's own id of it."""
    resume: tuple[str, ...] = ()
    """The argv that takes it up again, as the settings have it; empty where that is not possible."""
    cwd: str = ""
    title: str = ""
    is_over: bool = False
    end_reason: str = ""
    tokens: dict[str, int] = {}
    cost: float | None = None


class CodeSearchResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """``places`` as `file:line: text`, redacted; ``trouble`` says why nothing could be looked up."""

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
"""What comes of each call."""

WAITING_STEP_KINDS = ("ask_person", "sleep_until", "pause")
"""Steps in which a run only waits, for a person or for a time: it takes no turn and spends none of its time."""
