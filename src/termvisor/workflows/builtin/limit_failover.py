"""Move a session to another account when its usage limit is reached, if the user configured one.

The agent is asked to exit and is started again at the shell prompt under the other account, in the same session. If the
account may not know the session, or the agent cannot be asked to exit, nothing is done.
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
from termvisor.workflows.calls import UNCERTAIN_STATUSES, Observation, WaitFor
from termvisor.workflows.context import Context

_QUIT_TIMEOUT_S = 15.0


async def move_to_other_account(context: Context, paused: PausedPane) -> tuple[str, str]:
    """Return how the agent continued and an empty text; or an empty text and the problem for the plan."""
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
        problem = await restart_session(context, paused, (*selected.prefix, *paused.seen.resume))
    except NotDone as error:
        if error.why in UNCERTAIN_STATUSES:
            raise
        return "", f"it was not started as {selected.account}: {error.message}"
    if problem:
        return "", f"it was started as {selected.account}: {problem}"
    return await verify_started(context, f"the agent works again, as {selected.account}")


async def _quit_agent(context: Context, paused: PausedPane) -> None:
    async def check(context: Context) -> Observation:
        return await check_unchanged(context, paused)

    seen = paused.seen
    if not seen.agent:
        return
    await leave_limit_dialog(context, paused, check)
    (await safe_actions.act_safely(context, QuitAgent(pane=seen.pane, agent=seen.agent), check)).require_certain()
    await context.wait_for(WaitFor(prompt=True, timeout=_QUIT_TIMEOUT_S))
