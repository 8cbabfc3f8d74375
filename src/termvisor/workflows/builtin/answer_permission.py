"""An agent waits for a permission, and its request came to nobody: it is answered by the keys of its own dialog.

What the policy allows or denies is answered so; all else is a question to a person. The gate presses a key only while
exactly the dialog is shown that was judged. On any doubt nothing is pressed, and the dialog stands.
"""

from termvisor.errors import NotDone
from termvisor.model.action.action import AnswerDialog
from termvisor.workflows.builtin import safe_actions
from termvisor.workflows.calls import ActionStepResult, Observation, RetryPolicy
from termvisor.workflows.context import Context, StepBack
from termvisor.workflows.workflow import Trigger, Workflow

WAITING_STATE = "waiting_approval"
_NO_RETRY = RetryPolicy(times=1)
_DENIAL_REASONS = ("denied", "policy")


async def run(context: Context) -> str:
    seen = await context.observe(0)
    if seen.state != WAITING_STATE:
        raise StepBack("the agent does not wait for a permission any more")
    try:
        deed = await context.act(AnswerDialog(pane=seen.pane, agent=seen.agent, choice="allow"), _NO_RETRY)
    except NotDone as error:
        if error.status == "denied" and error.why in _DENIAL_REASONS:
            return await _deny_dialog(context, seen, error.message)
        return await _report_unanswered(context, seen, error)
    await _check_certain(context, seen, deed)
    return await _describe_outcome(context, "allowed, this once")


async def _deny_dialog(context: Context, seen: Observation, why: str) -> str:
    """A clear no is told to the agent; one that is about us, such as a switch, is none."""
    still = await context.observe(0)
    if still.state != WAITING_STATE or still.runtime != seen.runtime:
        return "it was answered at the pane"
    try:
        deed = await context.act(AnswerDialog(pane=seen.pane, agent=seen.agent, choice="deny"), _NO_RETRY)
    except NotDone as error:
        return await _report_unanswered(context, seen, error)
    await _check_certain(context, seen, deed)
    return await _describe_outcome(context, f"refused: {why}")


async def _check_certain(context: Context, seen: Observation, result: ActionStepResult) -> None:
    """Where nobody knows whether the key was pressed, it is not pressed again: the person looks, and the run fails."""
    try:
        safe_actions.require_certain(result)
    except NotDone as error:
        await _notify_person(
            context, seen, f"Perhaps it is answered: {error.message}. `visor attach {seen.pane}` shows it."
        )
        raise


async def _report_unanswered(context: Context, seen: Observation, error: NotDone) -> str:
    """Its dialog stands; who sits there decides."""
    await _notify_person(context, seen, f"Its dialog stands: {error.message}. `visor attach {seen.pane}` shows it.")
    return f"nothing was answered: {error.message}"


async def _notify_person(context: Context, seen: Observation, text: str) -> None:
    try:
        await context.notify(f"{seen.agent} in pane {seen.pane} waits for a permission", text)
    except NotDone as trouble:
        await context.note(f"nobody was told: {trouble.message}")


async def _describe_outcome(context: Context, what: str) -> str:
    seen = await context.observe(0)
    return f"{what}; {seen.agent or 'the agent'} is {seen.state}"


WORKFLOW = Workflow(
    name="answer_permission",
    summary="Answer an agent's permission request that only its dialog shows, by policy or by a person.",
    trigger=Trigger(events=("agent.unanswered",), fresh_for=120.0),
    run=run,
    steps=(
        "look whether the agent still waits",
        "let the policy judge the very dialog that is shown, and ask a person where it does not decide",
        "press the keys of yes or of no, only while that dialog stands",
    ),
)
