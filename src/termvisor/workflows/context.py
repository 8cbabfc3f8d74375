"""All that a workflow sees of the world. Whatever it wants goes through here, one step at a time.

Every method is one step in the run's journal, on record before it happens, and again with what came of it. After a
crash the workflow's function runs anew from its first line: steps that the journal knows give their recorded answer at
once, and nothing is done twice. So a workflow must ask for the same things in the same order when it gets the same
answers: it takes the time from `now`, and nothing from the clock, from chance, from files or from the network.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol, cast

from termvisor.clock import NS
from termvisor.errors import BadRequest
from termvisor.model.action.action import Action, NotificationWay
from termvisor.model.agent.state import StateName
from termvisor.model.detection.detection import Detection
from termvisor.model.event import Scalar
from termvisor.model.ids import RuntimeId, SessionId
from termvisor.model.workflow.run import Run
from termvisor.workflows.account_failover import AccountSelection, SelectAccountCall
from termvisor.workflows.calls import (
    DEFAULT_WAIT_TIMEOUT_S,
    WAIT_CONDITIONS,
    ActionCall,
    ActionStepResult,
    AskPersonCall,
    CallResult,
    ClockCall,
    ClockReading,
    CodeSearchResult,
    LastSessionCall,
    NoteCall,
    NotifyRequest,
    Observation,
    ObserveCall,
    PaneRequest,
    PauseCall,
    PauseResult,
    PersonAnswer,
    PreferencesCall,
    PreferenceValues,
    PressKeysRequest,
    RecallCall,
    RecallResult,
    RetryPolicy,
    SearchCodeCall,
    SendTextRequest,
    SessionRecord,
    SessionUpdateCall,
    SleepUntilCall,
    SpawnRequest,
    TriggerCheckCall,
    TriggerCheckResult,
    WaitFor,
    WaitResult,
    WorkflowCall,
)


class StepBack(Exception):
    """Raised by a workflow that finds that nothing should be done: its run is cancelled, with this reason."""


class CallExecutor(Protocol):
    """How calls are answered: from the journal, by the world, or in a rehearsal."""

    async def execute(self, call: WorkflowCall) -> CallResult: ...


class Context:
    def __init__(self, run: Run, trigger: Detection | None, executor: CallExecutor):
        self.run, self.trigger = run, trigger
        self._executor = executor

    @property
    def facts(self) -> dict[str, Scalar]:
        """The captures of the event, or what the run was started with."""
        return self.run.facts

    async def observe(self, lines: int = 50) -> Observation:
        """The pane, its agent, its screen and its last lines, as they are now, redacted."""
        return cast(Observation, await self._executor.execute(ObserveCall(lines=lines)))

    async def wait_for(self, condition: WaitFor) -> WaitResult:
        """Until it happens: ``wait_for(WaitFor(text="❯", timeout=60))``. Raises ``TimedOut`` when it does not."""
        if sum(bool(getattr(condition, name)) for name in WAIT_CONDITIONS) != 1:
            raise BadRequest(f"wait for exactly one thing: {', '.join(WAIT_CONDITIONS)}")
        return cast(WaitResult, await self._executor.execute(condition))

    async def wait_stable(self, seconds: float, timeout: float = 600.0) -> WaitResult:
        """Until the pane printed nothing for so long."""
        return await self.wait_for(WaitFor(quiet=seconds, timeout=timeout))

    async def wait_state(
        self, *states: StateName, timeout: float = DEFAULT_WAIT_TIMEOUT_S, is_new: bool = False
    ) -> WaitResult:
        """``is_new``: the agent must have come into it after the last act."""
        return await self.wait_for(WaitFor(state=states, timeout=timeout, is_new=is_new))

    async def act(self, request: Action | PaneRequest, retry: RetryPolicy | None = None) -> ActionStepResult:
        """Do it, through the gate. Raises ``NotDone`` when it was not done, with the reason; nothing was done then.

        A deed whose status is `unknown` may have been done; it is never tried again.
        """
        call = (
            ActionCall(wish=request)
            if isinstance(request, SendTextRequest | PressKeysRequest | SpawnRequest | NotifyRequest)
            else ActionCall(action=request)
        )
        if retry is not None:
            call = ActionCall(wish=call.wish, action=call.action, retry=retry)
        return cast(ActionStepResult, await self._executor.execute(call))

    async def send(self, text: str, *, enter: bool = True) -> ActionStepResult:
        """Type a text into the pane: to its agent, else to the shell at its prompt."""
        return await self.act(SendTextRequest(text=text, enter=enter))

    async def keys(self, *keys: str) -> ActionStepResult:
        return await self.act(PressKeysRequest(keys=keys))

    async def interrupt(self) -> ActionStepResult:
        """Press Ctrl-C once."""
        return await self.keys("C-c")

    async def spawn(
        self, command: Sequence[str], *, cwd: str = "", name: str = "", account: str = ""
    ) -> ActionStepResult:
        """Start a program in a new window of the session in which the pane stands, under this account if one is
        named."""
        return await self.act(SpawnRequest(command=tuple(command), cwd=cwd, name=name, account=account))

    async def notify(self, title: str, text: str, way: NotificationWay = "terminal") -> ActionStepResult:
        return await self.act(NotifyRequest(title=title, text=text, way=way))

    async def ask_person(
        self,
        question: str,
        choices: Sequence[str] = ("yes", "no"),
        expires: float = 600.0,
        *,
        unless: WaitFor | None = None,
    ) -> PersonAnswer:
        """A question in the inbox. `visor approve` means the first choice, `visor deny` the last; any choice can be
        said with `visor workflow signal <run> <choice>`. Only a person answers. An empty choice: nobody did in time;
        or what made the question needless came before, and then ``why`` is `needless`.
        """
        if len(set(choices)) != len(choices) or len(choices) < 2 or not all(choices):
            raise BadRequest("a question needs two different choices or more")
        call = AskPersonCall(question=question, choices=tuple(choices), expires=expires, unless=unless)
        return cast(PersonAnswer, await self._executor.execute(call))

    async def sleep_until(self, at: int) -> int:
        """Until the wall clock shows this instant; the time then. The run takes no turn of others meanwhile."""
        return cast(ClockReading, await self._executor.execute(SleepUntilCall(at=at))).at

    async def sleep(self, seconds: float) -> int:
        return await self.sleep_until(await self.now() + int(seconds * NS))

    async def pause(self, plan: str, until: int | None = None) -> PauseResult:
        """Stop here with a plan that a person can read, until that instant or until `visor workflow resume`.

        What started the run counts as handled from now on.
        """
        return cast(PauseResult, await self._executor.execute(PauseCall(plan=plan, until=until)))

    async def pause_until_changed(self, pause: PauseCall) -> PauseResult:
        """The same, and it also ends when the pane is no longer as the Pause says that it was left."""
        return cast(PauseResult, await self._executor.execute(pause))

    async def prefer(self, *names: str) -> PreferenceValues:
        """What the person has set, as it stands now; read again where it may have changed."""
        return cast(PreferenceValues, await self._executor.execute(PreferencesCall(names=names)))

    async def still(self, text: str = "", lines: int = 50) -> TriggerCheckResult:
        """Whether what started the run is still to be seen in the live pane: the text among its last lines or on its
        screen; without one, the evidence of the event. Ask before you act on what may be old."""
        return cast(TriggerCheckResult, await self._executor.execute(TriggerCheckCall(text=text, lines=lines)))

    async def recall(self, event: str, within: float = 600.0) -> RecallResult:
        """What was detected in the pane in the last seconds, by the type of its event."""
        return cast(RecallResult, await self._executor.execute(RecallCall(event=event, within=within)))

    async def last_session(
        self, runtime: RuntimeId | None = None, session: str = "", *, anywhere: bool = False
    ) -> SessionRecord:
        """The conversation that goes on in the pane, or ended there last; with a runtime, one of this process; with a
        session, the one of this name; it may have gone on ``anywhere``."""
        call = LastSessionCall(runtime=runtime, session=session, anywhere=anywhere)
        return cast(SessionRecord, await self._executor.execute(call))

    async def update_session(
        self, session: SessionId, external_id: str = "", tokens: Mapping[str, int] | None = None
    ) -> SessionRecord:
        """Add to the record of a conversation that is over what it does not say yet; how it stands then."""
        call = SessionUpdateCall(session=session, external_id=external_id, tokens=dict(tokens or {}))
        return cast(SessionRecord, await self._executor.execute(call))

    async def search_code(self, *names: str) -> CodeSearchResult:
        """Where these names stand in the code of the pane's folder; a program for that may be missing."""
        return cast(CodeSearchResult, await self._executor.execute(SearchCodeCall(names=names)))

    async def select_account(self, service: str = "") -> AccountSelection:
        """The account under which the run's agent may go on after its limit: none, unless the setting
        `failover_profile` names one that has enough left. Ask right before you use it: nothing is done yet. See
        `failover` for how to use it."""
        return cast(AccountSelection, await self._executor.execute(SelectAccountCall(service=service)))

    async def note(self, text: str) -> None:
        """A line in the run's history, for people."""
        await self._executor.execute(NoteCall(text=text))

    async def now(self) -> int:
        """The time, nanoseconds since 1970; the same again in a replay."""
        return cast(ClockReading, await self._executor.execute(ClockCall())).at
