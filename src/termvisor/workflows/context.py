"""The workflow API: every call is one journaled step.

A step is stored before it is executed, and again with its result. After a crash the workflow's function runs again from
its first line. Recorded steps return their recorded result at once, and no action is repeated. So a workflow must be
deterministic: the same results must lead to the same calls in the same order. It gets the time from ``now`` and must
not use the clock, random numbers, files or the network.
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
from termvisor.model.workflow import Run
from termvisor.workflows import calls, results


class StepBack(Exception):
    """Raised by a workflow when nothing should be done. Its run is cancelled with this reason."""


class CallExecutor(Protocol):
    """Executes calls: by replaying the journal, for real, or in a dry run."""

    async def execute(self, call: calls.WorkflowCall) -> results.CallResult: ...


class Context:
    def __init__(self, run: Run, trigger: Detection | None, executor: CallExecutor):
        self.run, self.trigger = run, trigger
        self._executor = executor

    @property
    def facts(self) -> dict[str, Scalar]:
        """Return the event's captures or the request's arguments."""
        return self.run.facts

    async def observe(self, lines: int = 50) -> results.Observation:
        """Return the current state of the pane: its agent, screen and last lines, redacted."""
        return cast(results.Observation, await self._executor.execute(calls.ObserveCall(lines=lines)))

    async def wait_for(self, condition: calls.WaitFor) -> results.WaitResult:
        """Wait for one condition: ``wait_for(WaitFor(text="❯", timeout=60))``. Raises ``TimedOut``."""
        # Check before journaling the call, so that a mistake in a workflow leaves no step behind.
        if sum(bool(getattr(condition, name)) for name in calls.WAIT_CONDITIONS) != 1:
            raise BadRequest(f"wait for exactly one of {', '.join(calls.WAIT_CONDITIONS)}")
        return cast(results.WaitResult, await self._executor.execute(condition))

    async def wait_stable(self, seconds: float, timeout: float = 600.0) -> results.WaitResult:
        """Wait until the pane has printed nothing for ``seconds``. Raises ``TimedOut``."""
        return await self.wait_for(calls.WaitFor(quiet=seconds, timeout=timeout))

    async def wait_state(
        self, *states: StateName, timeout: float = calls.DEFAULT_WAIT_TIMEOUT_S, is_new: bool = False
    ) -> results.WaitResult:
        """Wait for one of these states. With ``is_new``, it must have been entered after the last action."""
        return await self.wait_for(calls.WaitFor(state=states, timeout=timeout, is_new=is_new))

    async def act(
        self, request: Action | calls.PaneRequest, retry: calls.RetryPolicy | None = None
    ) -> results.ActionStepResult:
        """Execute an action through the gate. Raises ``NotDone`` with the reason if it was not executed.

        An action with the status `unknown` may have been executed and is never retried.
        """
        call = (
            calls.ActionCall(wish=request)
            if isinstance(
                request, calls.SendTextRequest | calls.PressKeysRequest | calls.SpawnRequest | calls.NotifyRequest
            )
            else calls.ActionCall(action=request)
        )
        if retry is not None:
            call = calls.ActionCall(wish=call.wish, action=call.action, retry=retry)
        return cast(results.ActionStepResult, await self._executor.execute(call))

    async def send(self, text: str, *, enter: bool = True) -> results.ActionStepResult:
        """Type a text into the pane: to its agent, else to the shell at its prompt."""
        return await self.act(calls.SendTextRequest(text=text, enter=enter))

    async def keys(self, *keys: str) -> results.ActionStepResult:
        return await self.act(calls.PressKeysRequest(keys=keys))

    async def interrupt(self) -> results.ActionStepResult:
        """Press Ctrl-C once."""
        return await self.keys("C-c")

    async def spawn(
        self, command: Sequence[str], *, cwd: str = "", name: str = "", account: str = ""
    ) -> results.ActionStepResult:
        """Start a program in a new window of the pane's session, with ``account`` if one is given."""
        return await self.act(calls.SpawnRequest(command=tuple(command), cwd=cwd, name=name, account=account))

    async def notify(self, title: str, text: str, way: NotificationWay = "terminal") -> results.ActionStepResult:
        return await self.act(calls.NotifyRequest(title=title, text=text, way=way))

    async def ask_person(
        self,
        question: str,
        choices: Sequence[str] = ("yes", "no"),
        expires: float = 600.0,
        *,
        unless: calls.WaitFor | None = None,
    ) -> results.PersonAnswer:
        """Ask a person through the inbox and return the choice.

        `visor approve` picks the first choice, `visor deny` the last; `visor workflow signal <run> <choice>` picks any
        of them. The choice is empty if there was no answer in time, or if ``unless`` was met first; then ``why`` is
        `needless`.
        """
        # `visor approve` and `visor deny` pick the first and the last choice, so these must differ.
        if len(set(choices)) != len(choices) or len(choices) < 2 or not all(choices):
            raise BadRequest("a question needs at least two different choices")
        call = calls.AskPersonCall(question=question, choices=tuple(choices), expires=expires, unless=unless)
        return cast(results.PersonAnswer, await self._executor.execute(call))

    async def sleep_until(self, at: int) -> int:
        """Sleep until this time (nanoseconds since 1970) and return the current time. The run occupies no slot."""
        return cast(results.ClockReading, await self._executor.execute(calls.SleepUntilCall(at=at))).at

    async def sleep(self, seconds: float) -> int:
        # The journal stores the end of the sleep first, so that a restart does not sleep the full time again.
        return await self.sleep_until(await self.now() + int(seconds * NS))

    async def pause(self, plan: str, until: int | None = None) -> results.PauseResult:
        """Pause the run, showing people a plan, until this time or until `visor workflow resume`.

        The event that started the run counts as handled from now on.
        """
        return cast(results.PauseResult, await self._executor.execute(calls.PauseCall(plan=plan, until=until)))

    async def pause_until_changed(self, pause: calls.PauseCall) -> results.PauseResult:
        """Pause like ``pause``, but also end when the pane or a setting changes as the call describes."""
        return cast(results.PauseResult, await self._executor.execute(pause))

    async def prefer(self, *names: str) -> results.PreferenceValues:
        """Return the current values of these settings. Call it again if they may have changed."""
        return cast(results.PreferenceValues, await self._executor.execute(calls.PreferencesCall(names=names)))

    async def still(self, text: str = "", lines: int = 50) -> results.TriggerCheckResult:
        """Check whether the pane still shows what started the run: ``text``, or else the event's evidence.

        Searches the last lines and the screen. Call it before acting on an event that may be old.
        """
        return cast(
            results.TriggerCheckResult, await self._executor.execute(calls.TriggerCheckCall(text=text, lines=lines))
        )

    async def recall(self, event: str, within: float = 600.0) -> results.RecallResult:
        """Return the pane's detections of this event type from the last ``within`` seconds."""
        return cast(results.RecallResult, await self._executor.execute(calls.RecallCall(event=event, within=within)))

    async def last_session(
        self, runtime: RuntimeId | None = None, session: str = "", *, anywhere: bool = False
    ) -> results.SessionRecord:
        """Return the current or last session of the pane.

        ``runtime`` limits the search to an agent process, ``session`` to an id; ``anywhere`` searches all panes.
        """
        call = calls.LastSessionCall(runtime=runtime, session=session, anywhere=anywhere)
        return cast(results.SessionRecord, await self._executor.execute(call))

    async def update_session(
        self, session: SessionId, external_id: str = "", tokens: Mapping[str, int] | None = None
    ) -> results.SessionRecord:
        """Add missing values to an ended session and return it."""
        call = calls.SessionUpdateCall(session=session, external_id=external_id, tokens=dict(tokens or {}))
        return cast(results.SessionRecord, await self._executor.execute(call))

    async def search_code(self, *names: str) -> results.CodeSearchResult:
        """Find these names in the code in the pane's folder, if ast-grep is installed."""
        return cast(results.CodeSearchResult, await self._executor.execute(calls.SearchCodeCall(names=names)))

    async def select_account(self, service: str = "") -> results.AccountSelection:
        """Return the account with which the run's agent may continue after its usage limit.

        It is empty unless the setting `failover_profile` names one with enough quota left. Call this right before using
        the account: start the session's resume command with ``context.spawn(seen.resume, account=selected.account)``,
        or type ``selected.prefix`` and ``seen.resume``, quoted, at the shell prompt. The account is a reference: the
        new process loads the credentials itself, so they never enter our argv, journal, audit log or environment.
        """
        return cast(results.AccountSelection, await self._executor.execute(calls.SelectAccountCall(service=service)))

    async def note(self, text: str) -> None:
        """Add a line for people to the run's history."""
        await self._executor.execute(calls.NoteCall(text=text))

    async def now(self) -> int:
        """Return the time in nanoseconds since 1970. A replay returns the same value."""
        return cast(results.ClockReading, await self._executor.execute(calls.ClockCall())).at
