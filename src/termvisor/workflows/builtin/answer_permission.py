"""Answer the dialog of an agent that is waiting for permission, if its request did not reach the inbox.

If the policy allows or denies, that choice is pressed, else a person must decide. The gate presses a key only while
exactly the checked dialog is shown. When in doubt, nothing is pressed and the dialog stays open.
"""

from termvisor.errors import NotDone
from termvisor.model.action.action import AnswerDialog
from termvisor.workflows.builtin import safe_actions
from termvisor.workflows.calls import RetryPolicy
from termvisor.workflows.context import Context, StepBack
from termvisor.workflows.results import ActionStepResult, Observation
from termvisor.workflows.workflow import Trigger, Workflow

WAITING_STATE = "waiting_approval"
# After a refusal the dialog must be checked again, so the engine must not retry the key.
_NO_RETRY = RetryPolicy(times=1)
_DENIAL_REASONS = ("denied", "policy")


async def run(context: Context) -> str:
    seen = await context.observe(0)
    if seen.state != WAITING_STATE:
        raise StepBack("the agent no longer waits for a permission")
    try:
        result = await context.act(AnswerDialog(pane=seen.pane, agent=seen.agent, choice="allow"), _NO_RETRY)
    except NotDone as error:
        # Only a person or the policy may deny. A failed precondition is no decision about the request.
        if error.status == "denied" and error.why in _DENIAL_REASONS:
            return await _deny_dialog(context, seen, error.message)
        return await _report_unanswered(context, seen, error)
    await _check_certain(context, seen, result)
    return await _describe_outcome(context, "allowed once")


async def _deny_dialog(context: Context, seen: Observation, why: str) -> str:
    """Deny the request in the dialog, unless it was answered meanwhile."""
    current = await context.observe(0)
    # The decision may have taken hours if a person was asked.
    if current.state != WAITING_STATE or current.runtime != seen.runtime:
        return "it was answered at the pane"
    try:
        result = await context.act(AnswerDialog(pane=seen.pane, agent=seen.agent, choice="deny"), _NO_RETRY)
    except NotDone as error:
        return await _report_unanswered(context, seen, error)
    await _check_certain(context, seen, result)
    return await _describe_outcome(context, f"denied: {why}")


async def _check_certain(context: Context, seen: Observation, result: ActionStepResult) -> None:
    """Notify a person and fail if it is unknown whether the key was pressed. It is never pressed again."""
    try:
        result.require_certain()
    except NotDone as error:
        await _notify_person(
            context, seen, f"Perhaps it is answered: {error.message}. `visor attach {seen.pane}` shows it."
        )
        raise


async def _report_unanswered(context: Context, seen: Observation, error: NotDone) -> str:
    """Notify a person that the dialog is still open."""
    await _notify_person(context, seen, f"Its dialog stands: {error.message}. `visor attach {seen.pane}` shows it.")
    return f"not answered: {error.message}"


async def _notify_person(context: Context, seen: Observation, text: str) -> None:
    await safe_actions.notify_person(context, f"{seen.agent} in pane {seen.pane} waits for a permission", text)


async def _describe_outcome(context: Context, outcome: str) -> str:
    seen = await context.observe(0)
    return f"{outcome}; {seen.agent or 'the agent'} is {seen.state}"


WORKFLOW = Workflow(
    name="answer_permission",
    summary="Answer an agent's permission request that only its dialog shows, by policy or by a person.",
    trigger=Trigger(events=("agent.unanswered",), fresh_for=120.0),
    run=run,
    steps=(
        "check that the agent still waits",
        "check the shown dialog against the policy; request approval where it does not decide",
        "press the keys of allow or deny, only while that dialog is shown",
    ),
)
