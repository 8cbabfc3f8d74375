"""The calls of workflows. Each call becomes one journaled step, with a result from `termvisor.workflows.results`.

A call's fields define it completely, so that a replay can detect a changed workflow. Tags and field
names are part of the journal format.
"""

from typing import Literal

from msgspec import Struct

from termvisor.model.action.action import Action, NotificationWay
from termvisor.model.agent.state import StateName
from termvisor.model.ids import RuntimeId, SessionId
from termvisor.workflows.results import (
    AccountSelection,
    ActionStepResult,
    ClockReading,
    CodeSearchResult,
    EmptyResult,
    Observation,
    PauseResult,
    PersonAnswer,
    PreferenceValues,
    RecallResult,
    SessionRecord,
    TriggerCheckResult,
    WaitResult,
)

WAIT_CONDITIONS = ("text", "pattern", "state", "rule", "prompt", "quiet", "signal", "session", "cleared", "gone")
"""The fields of ``WaitFor`` that are conditions."""
DEFAULT_WAIT_TIMEOUT_S = 30.0
"""Default timeout of a step, in seconds."""


class RetryPolicy(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How often to retry an action if the pane was not ready: a user typed in it, it was reserved, …"""

    times: int = 4
    first: float = 2.0
    """Seconds before the second attempt. The delay doubles with each further attempt."""
    most: float = 60.0

    def compute_delay(self, attempt: int) -> float:
        """Return the seconds to wait after this attempt. The first attempt is 1."""
        # Limit the exponent, because a huge power would overflow the conversion to float.
        return float(min(self.most, self.first * 2 ** min(attempt - 1, 20)))


class SendTextRequest(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="send"):
    """A text for the agent in the run's pane, or for the shell at its prompt if there is no agent."""

    text: str
    enter: bool = True


class PressKeysRequest(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="keys"):
    """Keys for the run's pane, as tmux key names."""

    keys: tuple[str, ...]


class SpawnRequest(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="spawn"):
    """A program in a new window of the run's session, or in a new pane that splits the run's pane."""

    command: tuple[str, ...]
    cwd: str = ""
    name: str = ""
    where: Literal["window", "pane"] = "window"
    env: dict[str, str] = {}
    account: str = ""
    """The account to start it with, such as ``openai/work``. See `Context.select_account`."""
    keeps_failure: bool = False
    """Keep the pane open if the program fails, so that a person sees why."""


class NotifyRequest(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="notify"):
    title: str
    text: str
    way: NotificationWay = "terminal"


PaneRequest = SendTextRequest | PressKeysRequest | SpawnRequest | NotifyRequest
"""An action on the run's own pane. The ``Action`` is built when the step is executed."""


class ObserveCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="observe"):
    lines: int = 50
    """The number of last lines to return."""


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
    """A signal sent by a person or program: `visor workflow signal <run> <word>`."""
    is_new: bool = False
    """For ``state``: it must have been entered after the last action."""
    session: str = ""
    """The agent in the pane is in the session with this id."""
    cleared: Literal["", "auth_needed", "usage_limited", "compacting"] = ""
    """The agent is in the pane and this flag is not set."""
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
    """The condition that makes the question obsolete, so that it is withdrawn."""


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
    """Check whether the pane still shows what started the run: the given text, or else the event's evidence."""

    text: str = ""
    lines: int = 50


class PreferencesCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="prefer"):
    """Read user settings. The pane's project can override a few of them."""

    names: tuple[str, ...]


class RecallCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="recall"):
    """List recent detections in the run's pane by event type. Patterns such as `usage.*` are allowed."""

    event: str
    within: float = 600.0  # seconds before now


class LastSessionCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="last_session"):
    """Find the current or last session of the run's pane, optionally limited to an agent process or an id."""

    runtime: RuntimeId | None = None
    session: str = ""
    anywhere: bool = False
    """Search all panes, not just the run's."""


class SessionUpdateCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="keep"):
    """Add missing values to an ended session."""

    session: SessionId
    external_id: str = ""
    tokens: dict[str, int] = {}
    """Token counts by kind: `total`, `input`, `cached`, `output`, `reasoning`."""


class SearchCodeCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="search_code"):
    """Find these names in the code in the pane's folder."""

    names: tuple[str, ...]


class SelectAccountCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="select_account"):
    """Select the account with which the agent in the run's pane may continue, using fresh quota data."""

    service: str = ""
    """Empty for the service of the run's agent."""


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
"""Steps in which a run only waits for a person or a time, occupying no slot and using no work time."""
