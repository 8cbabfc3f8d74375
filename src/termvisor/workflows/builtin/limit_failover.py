"""Moves a conversation whose account has used up its limit to another account: only where the person has set one.

The agent leaves in its own way, and is started again at the shell's prompt under the other account, in the same
conversation. Where that is not sure to be found there, or the agent cannot be asked to leave, nothing is done.
"""

from termvisor.errors import NotDone, TimedOut
from termvisor.model.action.action import QuitAgent
from termvisor.workflows.builtin import safe_actions
from termvisor.workflows.builtin.limit_resume import (
    PausedPane,
    check_unchanged,
    leave_limit_dialog,
    restart_session,
    verify_started,
)
from termvisor.workflows.calls import Observation, WaitFor
from termvisor.workflows.context import Context

_QUIT_TIMEOUT_S = 15.0


async def move_to_other_account(context: Context, paused: PausedPane) -> tuple[str, str]:
    """How it went on under another account; or why it did not, for the plan that follows."""
    selected = await context.select_account()
    if not selected.account:
        return "", f"no other account: {selected.why}"
    if not selected.shares_sessions or not paused.seen.resume:
        return "", f"{selected.account} does not know this conversation"
    try:
        await _quit_agent(context, paused)
    except TimedOut:
        return "", "the agent was asked to leave, and no shell's prompt was seen"
    except NotDone as error:
        return "", f"the agent was not asked to leave: {error.message}"
    try:
        trouble = await restart_session(context, paused, (*selected.prefix, *paused.seen.resume))
    except NotDone as error:
        if error.why in safe_actions.UNCERTAIN_STATUSES:
            raise
        return "", f"it was not started as {selected.account}: {error.message}"
    if trouble:
        return "", f"it was started as {selected.account}: {trouble}"
    return await verify_started(context, f"the agent works again, as {selected.account}")


async def _quit_agent(context: Context, paused: PausedPane) -> None:
    async def check(context: Context) -> Observation:
        return await check_unchanged(context, paused)

    seen = paused.seen
    if not seen.agent:
        return
    await leave_limit_dialog(context, paused, check)
    safe_actions.require_certain(
        await safe_actions.act_safely(context, QuitAgent(pane=seen.pane, agent=seen.agent), check)
    )
    await context.wait_for(WaitFor(prompt=True, timeout=_QUIT_TIMEOUT_S))
