"""Execute the actions of runs through the gate, each with an idempotency key made of run, step and attempt.

Invariant: an action is executed only if the audit log shows that this attempt has not started. After a crash its
outcome is looked up; an unknown outcome stays `unknown` and the action is never repeated.
"""

import os
from collections.abc import Sequence

from msgspec.structs import replace

from termvisor.errors import Conflict, MuxError, NeedsApproval, NotDone, NotFound, Refused, StorageError, VisorError
from termvisor.model.action.action import Action, Actor, AskPerson, Notify, SendKeys, SendText, Spawn, assess_risk
from termvisor.model.action.audit import AuditEntry
from termvisor.model.action.outcome import DeliveryRecord, Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.terminal.pane import PaneView
from termvisor.model.workflow import Run, WorkflowMode
from termvisor.workflows import calls
from termvisor.workflows.engine.journaled_calls import StepExecution, compute_remaining_seconds
from termvisor.workflows.engine.services import WorkflowServices
from termvisor.workflows.results import ActionStepResult, PersonAnswer
from termvisor.workflows.steps.wait import race

_APPROVAL_WAIT_S = 86_400.0
"""Seconds to wait for an approval. Longer than any request lasts, so the expiry set by the policy ends the wait."""
# Ordered from mild to strict, for `max`.
_MODE_STRICTNESS: tuple[WorkflowMode, ...] = ("on", "ask", "off")


class ActionSteps:
    def __init__(self, services: WorkflowServices):
        self._services, self._gate, self._panes = services, services.gate, services.panes

    async def run_action(self, call: calls.ActionCall, execution: StepExecution) -> ActionStepResult:
        run, correlation = execution.run, build_correlation(execution)
        # The daemon ended in the middle of this attempt, so executing it again could type the same text twice.
        if execution.is_resumed and (recorded := await self._find_recorded_result(correlation)) is not None:
            return replace(recorded, at=execution.step.at)
        mode = self.get_effective_mode(run)
        if mode == "off":
            raise NotDone(f"{run.workflow} is switched off", details={"status": "denied", "why": "switched_off"})
        action, preconditions = await self.build_action(run, call)
        preconditions = replace(
            preconditions,
            # The gate executes each key only once, even if another daemon resumes this step.
            key=correlation,
            correlation=correlation,
            asks=mode == "ask" and needs_approval(action),
            wait_for_answer=_APPROVAL_WAIT_S,
        )
        try:
            outcome = await self._gate.run(action, build_actor(run), preconditions)
        # A missing pane cancels the run, and a storage error repeats it. Neither is an outcome of the action.
        except (NotFound, StorageError):
            raise
        except VisorError as error:
            raise _convert_gate_error(error) from error
        # The gate returns multiplexer failures as outcomes. For a workflow they are errors, as after a crash.
        if outcome.status == "failed":
            raise _build_not_done(outcome.status, outcome.why)
        return replace(_build_result(outcome, correlation), at=execution.step.at)

    async def build_action(self, run: Run, call: calls.ActionCall) -> tuple[Action, Preconditions]:
        """Build a call's action for the current state of the pane. Raises ``NotDone`` or ``NotFound``."""
        if call.action is not None:
            return call.action, Preconditions()
        if call.wish is None or run.pane is None:
            raise NotDone("the run has no pane to act on", details={"status": "failed", "why": "no_pane"})
        view = await self._panes.find_pane(run.pane)
        if view is None or view.gone_at is not None:
            raise NotFound(f"pane {run.pane} no longer exists")
        is_agent = isinstance(call.wish, calls.SendTextRequest) and bool((await self._panes.observe(run.pane, 0)).agent)
        return build_pane_action(call.wish, view, is_agent=is_agent)

    def get_effective_mode(self, run: Run) -> WorkflowMode:
        """Return the stricter of the run's mode and the current setting. A relaxed setting affects only new runs."""
        return max(run.mode, self._services.get_mode(run.workflow), key=_MODE_STRICTNESS.index)

    async def ask_person(self, call: calls.AskPersonCall, execution: StepExecution, now: int) -> PersonAnswer:
        """Ask through the inbox, and also accept a person's signal. The first answer wins."""
        timeout = compute_remaining_seconds(execution, call.expires, now)
        # A signal leaves the request open in the inbox, so withdraw it.
        answer = await race(self._ask_in_inbox(call, execution, timeout), self._wait_for_signal(call, execution))
        if answer.why == "signal":
            await self._gate.withdraw_approvals(build_correlation(execution))
        return answer

    async def _ask_in_inbox(self, call: calls.AskPersonCall, execution: StepExecution, timeout: float) -> PersonAnswer:
        run, correlation = execution.run, build_correlation(execution)
        if execution.is_resumed:
            recorded = read_recorded_answer(await self._gate.list_audit_entries(correlation), call)
            if recorded is not None:
                return recorded
        action = AskPerson(
            question=call.question,
            choices=call.choices,
            how=f"visor workflow signal {run.id} <choice>",
            pane=run.pane,
            request=correlation,
        )
        preconditions = Preconditions(correlation=correlation, asks=True, wait_for_answer=timeout)
        try:
            await self._gate.run(action, build_actor(run), preconditions)
        except (Refused, NeedsApproval) as error:
            # Approving picks the first choice, denying the last. An expired request has no answer.
            why = str(error.details.get("why", "expired"))
            return PersonAnswer(choice=call.choices[-1] if why == "denied" else "", why=why)
        return PersonAnswer(choice=call.choices[0], why="allowed")

    async def _wait_for_signal(self, call: calls.AskPersonCall, execution: StepExecution) -> PersonAnswer:
        # Subscribe before reading the list, so that no signal is missed in between.
        with self._services.signals.subscribe() as updates:
            while True:
                for signal in await self._services.runs.list_signals(execution.run.id):
                    # Only a person may answer. Ignore a program that sends the same word.
                    if signal.at >= execution.step.at and signal.word in call.choices and signal.by.startswith("human"):
                        return PersonAnswer(choice=signal.word, why="signal")
                await updates.get()

    async def _find_recorded_result(self, correlation: str) -> ActionStepResult | None:
        """Return the recorded outcome of this attempt; None if it has not started."""
        delivery = await self._gate.find_delivery(correlation)
        return read_recorded_result(await self._gate.list_audit_entries(correlation), delivery, correlation)


def build_correlation(execution: StepExecution) -> str:
    """Return the correlation, also used as idempotency key, of an action. It starts with that of the run."""
    return f"{build_run_correlation(execution.run)}.{execution.step.number}.{execution.step.attempt}"


def build_run_correlation(run: Run) -> str:
    """Return the common prefix of the correlations of the run's actions."""
    return f"{run.correlation}.{run.id}"


def build_actor(run: Run) -> Actor:
    return Actor(kind="workflow", name=run.workflow, uid=os.getuid(), pid=os.getpid())


def needs_approval(action: Action) -> bool:
    """Return True if the action requires approval in the mode `ask`: unless it is read-only or reversible."""
    return assess_risk(action) not in ("look", "reversible") and not isinstance(action, Notify)


def build_pane_action(request: calls.PaneRequest, view: PaneView, *, is_agent: bool) -> tuple[Action, Preconditions]:
    """Build the action. A text goes only to an agent's input or a shell prompt, never to an unknown program."""
    if isinstance(request, calls.SendTextRequest):
        text = SendText(
            pane=view.id, text=request.text, enter=request.enter, into_screen=is_agent and view.facts.alternate
        )
        # The agent's input must be empty, or the text would be appended to what a person has typed there.
        return text, Preconditions(into="program" if is_agent else "prompt", is_input_empty=is_agent)
    if isinstance(request, calls.PressKeysRequest):
        return SendKeys(pane=view.id, keys=request.keys), Preconditions()
    if isinstance(request, calls.NotifyRequest):
        return Notify(title=request.title, text=request.text, pane=view.id, way=request.way), Preconditions()
    return _build_spawn(request, view), Preconditions()


def _build_spawn(request: calls.SpawnRequest, view: PaneView) -> Spawn:
    return Spawn(
        where=request.where,
        target=view.instance.server.target,
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
    """Return an attempt's recorded outcome; None if there is none. Raises ``NotDone`` if it was refused. Pure."""
    # A delivery is stored step by step, so it is more detailed than the audit log.
    if delivery is not None and delivery.status != "refused":
        return ActionStepResult(
            status=delivery.status or "unknown", why=delivery.why or "interrupted", correlation=correlation
        )
    ended = next((entry for entry in reversed(entries) if entry.stage == "outcome"), None)
    if ended is not None:
        if ended.outcome in ("denied", "refused", "failed"):
            raise _build_not_done(ended.outcome, ended.why)
        return ActionStepResult(status=ended.outcome, why=ended.why, correlation=correlation)
    # There is an intent without an outcome. The action may have been executed, so it is never repeated.
    if any(entry.stage == "intent" for entry in entries):
        return ActionStepResult(status="unknown", why="interrupted", correlation=correlation)
    if any(entry.stage == "answered" and entry.outcome == "deny" for entry in entries):
        raise NotDone("a person denied it", details={"status": "denied", "why": "denied"})
    return None


def read_recorded_answer(entries: Sequence[AuditEntry], call: calls.AskPersonCall) -> PersonAnswer | None:
    """Return the answer that a person gave before the daemon ended, if any. Pure."""
    answers = {
        "allow": PersonAnswer(choice=call.choices[0], why="allowed"),
        "deny": PersonAnswer(choice=call.choices[-1], why="denied"),
    }
    return answers.get(next((entry.outcome for entry in reversed(entries) if entry.stage == "answered"), ""))


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
    # Use the same text now and after a crash, when the audit log has only status and reason.
    text = "it failed" if status == "failed" else f"it was {status}"
    return NotDone(f"{text}: {why}", details={"status": status, "why": why})


def _convert_gate_error(error: VisorError) -> NotDone:
    """Translate a gate error into a status and reason, keeping the gate's message."""
    why = str(error.details.get("why", "") or error.code)
    # A rate limit passes by itself and is retried. Other refusals are final.
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
