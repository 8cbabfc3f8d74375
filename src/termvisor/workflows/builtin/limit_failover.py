"""Moves a conversation whose account has used up its limit to another account: only where the person has set one.

The agent leaves in its own way, and is started again at the shell's prompt under the other account, in the same
conversation. Where that is not sure to be found there, or the agent cannot be asked to leave, nothing is done.
"""

from termvisor.errors import NotDone, TimedOut
from termvisor.model.action.action import QuitAgent
from termvisor.workflows.builtin import safe_actions as caution
from termvisor.workflows.builtin.limit_resume import Left, as_left, began, out_of_dialog, taken_up
from termvisor.workflows.calls import Observation, WaitFor
from termvisor.workflows.context import Context

_LEAVES_WITHIN = 15.0


async def moved(context: Context, left: Left) -> tuple[str, str]:
    """How it went on under another account; or why it did not, for the plan that follows."""
    selected = await context.select_account()
    if not selected.account:
        return "", f"no other account: {selected.why}"
    if not selected.shares_sessions or not left.seen.resume:
        return "", f"{selected.account} does not know this conversation"
    try:
        await _leaves(context, left)
    except TimedOut:
        return "", "the agent was asked to leave, and no shell's prompt was seen"
    except NotDone as error:
        return "", f"the agent was not asked to leave: {error.message}"
    try:
        trouble = await taken_up(context, left, (*selected.prefix, *left.seen.resume))
    except NotDone as error:
        if error.why in caution.UNSURE:
            raise
        return "", f"it was not started as {selected.account}: {error.message}"
    if trouble:
        return "", f"it was started as {selected.account}: {trouble}"
    return await began(context, f"the agent works again, as {selected.account}")


async def _leaves(context: Context, left: Left) -> None:
    async def check(context: Context) -> Observation:
        return await as_left(context, left)

    seen = left.seen
    if not seen.agent:
        return
    await out_of_dialog(context, left, check)
    caution.sure(await caution.act(context, QuitAgent(pane=seen.pane, agent=seen.agent), check))
    await context.wait_for(WaitFor(prompt=True, timeout=_LEAVES_WITHIN))
