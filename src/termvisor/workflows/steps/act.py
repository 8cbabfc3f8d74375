"""Acts of runs: through the gate, each with a key made of the run, the step and the attempt.

Invariant: an act is tried only where the record shows that this attempt did not begin. After a crash its outcome is
looked up; what is not known stays `unknown` and is never done again.
"""

import os
from collections.abc import Sequence

from msgspec.structs import replace

from termvisor.errors import Conflict, MuxError, NeedsApproval, NotDone, NotFound, Refused, StorageError, VisorError
from termvisor.model.action.action import Action, Actor, AskPerson, Notify, SendKeys, SendText, Spawn, assess_risk
from termvisor.model.action.audit import AuditEntry
from termvisor.model.action.delivery import DeliveryRecord
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.terminal.pane import PaneView
from termvisor.model.workflow.run import Run, WorkflowMode
from termvisor.workflows.calls import (
    ActionCall,
    ActionStepResult,
    AskPersonCall,
    NotifyRequest,
    PaneRequest,
    PersonAnswer,
    PressKeysRequest,
    SendTextRequest,
    SpawnRequest,
)
from termvisor.workflows.engine.journaled_calls import StepExecution, compute_remaining_seconds
from termvisor.workflows.engine.services import GateAccess, ModeReader, PaneReader, SignalFeed
from termvisor.workflows.steps.race import race

_APPROVAL_WAIT_S = 86_400.0
"""A question's own expiry, which the policy sets, ends the waiting for it."""
_MODE_STRICTNESS: tuple[WorkflowMode, ...] = ("on", "ask", "off")


class ActionSteps:
    def __init__(self, gate: GateAccess, panes: PaneReader, signals: SignalFeed, modes: ModeReader):
        self._gate, self._panes, self._signals, self._modes = gate, panes, signals, modes

    async def run_action(self, call: ActionCall, execution: StepExecution) -> ActionStepResult:
        run, correlation = execution.run, build_correlation(execution)
        if execution.is_resumed and (earlier := await self._find_recorded_result(correlation)) is not None:
            return replace(earlier, at=execution.step.at)
        mode = self.get_effective_mode(run)
        if mode == "off":
            raise NotDone(f"{run.workflow} is switched off", details={"status": "denied", "why": "switched_off"})
        action, terms = await self.build_action(run, call)
        terms = _add_correlation(terms, correlation, asks=mode == "ask" and needs_approval(action))
        try:
            outcome = await self._gate.run(action, build_actor(run), terms)
        except (NotFound, StorageError):
            raise
        except VisorError as error:
            raise _convert_gate_error(error) from error
        if outcome.status == "failed":
            raise _build_not_done(outcome.status, outcome.why)
        return replace(_build_result(outcome, correlation), at=execution.step.at)

    async def build_action(self, run: Run, call: ActionCall) -> tuple[Action, Preconditions]:
        """The action that a call stands for in the pane as it is now."""
        if call.action is not None:
            return call.action, Preconditions()
        if call.wish is None or run.pane is None:
            raise NotDone("the run has no pane to act on", details={"status": "failed", "why": "no_pane"})
        view = await self._panes.find_pane(run.pane)
        if view is None or view.gone_at is not None:
            raise NotFound(f"pane {run.pane} no longer exists")
        is_agent = isinstance(call.wish, SendTextRequest) and bool((await self._panes.observe(run.pane, 0)).agent)
        return build_pane_action(call.wish, view, is_agent=is_agent)

    def get_effective_mode(self, run: Run) -> WorkflowMode:
        """A setting that became stricter holds at once; one that became milder is for later runs."""
        return max(run.mode, self._modes.get_mode(run.workflow), key=_MODE_STRICTNESS.index)

    async def ask_person(self, call: AskPersonCall, execution: StepExecution, now: int) -> PersonAnswer:
        """By the inbox, or by a person's word to the run, whichever comes first."""
        correlation = build_correlation(execution)
        patience = compute_remaining_seconds(execution, call.expires, now)
        came = await race(self._ask_in_inbox(call, execution, patience), self._wait_for_signal(call, execution))
        if came.why == "signal":
            await self._gate.withdraw_approvals(correlation)
        return came

    async def _ask_in_inbox(self, call: AskPersonCall, execution: StepExecution, timeout: float) -> PersonAnswer:
        run, correlation = execution.run, build_correlation(execution)
        if (
            execution.is_resumed
            and (found := read_recorded_answer(await self._gate.list_audit_entries(correlation), call)) is not None
        ):
            return found
        action = AskPerson(
            question=call.question,
            choices=call.choices,
            how=f"visor workflow signal {run.id} <choice>",
            pane=run.pane,
            request=correlation,
        )
        terms = Preconditions(correlation=correlation, asks=True, wait_for_answer=timeout)
        try:
            await self._gate.run(action, build_actor(run), terms)
        except (Refused, NeedsApproval) as error:
            said = str(error.details.get("why", "expired"))
            return PersonAnswer(choice=call.choices[-1] if said == "denied" else "", why=said)
        return PersonAnswer(choice=call.choices[0], why="allowed")

    async def _wait_for_signal(self, call: AskPersonCall, execution: StepExecution) -> PersonAnswer:
        with self._signals.subscribe() as news:
            while True:
                for signal in await self._signals.list_signals(execution.run.id):
                    if signal.at >= execution.step.at and signal.word in call.choices and signal.by.startswith("human"):
                        return PersonAnswer(choice=signal.word, why="signal")
                await news.get()

    async def _find_recorded_result(self, correlation: str) -> ActionStepResult | None:
        """What is on record of this attempt; None where it did not begin."""
        send = await self._gate.find_delivery(correlation)
        return read_recorded_result(await self._gate.list_audit_entries(correlation), send, correlation)


def build_correlation(execution: StepExecution) -> str:
    """One act's story in the audit, and its key: it begins with that of the run."""
    return f"{build_run_correlation(execution.run)}.{execution.step.number}.{execution.step.attempt}"


def build_run_correlation(run: Run) -> str:
    """What the correlations of all its acts begin with."""
    return f"{run.correlation}.{run.id}"


def build_actor(run: Run) -> Actor:
    return Actor(kind="workflow", name=run.workflow, uid=os.getuid(), pid=os.getpid())


def needs_approval(action: Action) -> bool:
    """What a run that asks asks about: all that is more than a look or a word to a person."""
    return assess_risk(action) not in ("look", "reversible") and not isinstance(action, Notify)


def build_pane_action(request: PaneRequest, view: PaneView, *, is_agent: bool) -> tuple[Action, Preconditions]:
    """A text goes to the agent's own input, or to a shell at its prompt; never to a program that nobody knows."""
    if isinstance(request, SendTextRequest):
        text = SendText(
            pane=view.id, text=request.text, enter=request.enter, into_screen=is_agent and view.facts.alternate
        )
        return text, Preconditions(into="program" if is_agent else "prompt", is_input_empty=is_agent)
    if isinstance(request, PressKeysRequest):
        return SendKeys(pane=view.id, keys=request.keys), Preconditions()
    if isinstance(request, NotifyRequest):
        return Notify(title=request.title, text=request.text, pane=view.id, way=request.way), Preconditions()
    return _build_spawn(request, view), Preconditions()


def _build_spawn(request: SpawnRequest, view: PaneView) -> Spawn:
    return Spawn(
        where=request.where,
        server=view.instance.server.socket,
        session=view.facts.session_id or view.facts.session_name if request.where == "window" else "",
        beside=view.id if request.where == "pane" else None,
        command=request.command,
        cwd=request.cwd or view.facts.cwd,
        env=request.env,
        name=request.name,
        account=request.account,
        keeps_failure=request.keeps_failure,
    )


def read_recorded_result(
    entries: Sequence[AuditEntry], delivery: DeliveryRecord | None, correlation: str
) -> ActionStepResult | None:
    """What the record says of an attempt: done, not done (raised), `unknown`, or nothing. Pure."""
    if delivery is not None and delivery.status != "refused":
        return ActionStepResult(
            status=delivery.status or "unknown", why=delivery.why or "interrupted", correlation=correlation
        )
    ended = next((entry for entry in reversed(entries) if entry.stage == "outcome"), None)
    if ended is not None:
        if ended.outcome in ("denied", "refused", "failed"):
            raise _build_not_done(ended.outcome, ended.why)
        return ActionStepResult(status=ended.outcome, why=ended.why, correlation=correlation)
    if any(entry.stage == "intent" for entry in entries):
        return ActionStepResult(status="unknown", why="interrupted", correlation=correlation)
    if any(entry.stage == "answered" and entry.outcome == "deny" for entry in entries):
        raise NotDone("a person said no", details={"status": "denied", "why": "denied"})
    return None


def read_recorded_answer(entries: Sequence[AuditEntry], call: AskPersonCall) -> PersonAnswer | None:
    """What a person said before the daemon ended, if they did. Pure."""
    said = next((entry.outcome for entry in reversed(entries) if entry.stage == "answered"), "")
    choices = {"allow": call.choices[0], "deny": call.choices[-1]}
    return (
        PersonAnswer(choice=choices[said], why="allowed" if said == "allow" else "denied") if said in choices else None
    )


def _add_correlation(terms: Preconditions, correlation: str, *, asks: bool) -> Preconditions:
    return replace(terms, key=correlation, correlation=correlation, asks=asks, wait_for_answer=_APPROVAL_WAIT_S)


def _build_result(outcome: Outcome, correlation: str) -> ActionStepResult:
    return ActionStepResult(
        status=outcome.status,
        why=outcome.why,
        text=outcome.text,
        correlation=correlation,
        line=outcome.lines,
        mux_pane=outcome.mux_pane,
    )


def _build_not_done(status: str, why: str) -> NotDone:
    """In the same words whether it was seen to fail or is looked up after a crash: only these are on record."""
    told = "it failed" if status == "failed" else f"it was {status}"
    return NotDone(f"{told}: {why}", details={"status": status, "why": why})


def _convert_gate_error(error: VisorError) -> NotDone:
    """Why nothing was done, in the gate's own words."""
    why = str(error.details.get("why", "") or error.code)
    if isinstance(error, Refused):
        status = "denied"
        why = "rate" if error.details.get("retry_at") else str(error.details.get("why", "policy"))
    elif isinstance(error, NeedsApproval):
        status, why = "expired", "expired"
    elif isinstance(error, MuxError):
        status, why = "failed", "mux_error"
    else:
        status = "refused" if isinstance(error, Conflict) else "failed"
    return NotDone(error.message, details={"status": status, "why": why, "question": error.details.get("question")})
