"""Continue an agent after its usage limit, or at once with another account if the user configured one.

It is continued once, in an unchanged pane, and must be seen to start working. To move to another account, the agent is
asked to exit and restarted at the shell prompt, in the same session. If the account may not have the session, or
the agent cannot be asked to exit, nothing is done.
"""

import shlex

from msgspec import Struct

from termvisor.errors import NotDone, TimedOut
from termvisor.model.action.action import AnswerDialog, QuitAgent
from termvisor.model.agent.state import StateName
from termvisor.workflows.builtin import safe_actions
from termvisor.workflows.calls import SendTextRequest, WaitFor
from termvisor.workflows.context import Context, StepBack
from termvisor.workflows.results import UNCERTAIN_STATUSES, Observation

LIMIT_DIALOG_CHOICES = {"codex": "Keep current model", "gemini": "Keep trying"}
"""The option in an agent's own limit dialog that changes nothing."""
RESTING_STATES: tuple[StateName, ...] = ("idle", "completed", "error", "waiting_input")
_STARTED_STATES: tuple[StateName, ...] = ("waiting_approval", "completed", "error")
_START_TIMEOUT_S = 30.0
"""Seconds allowed for an agent to start working after the prompt."""
_STABLE_S = 15.0
"""Seconds for which it must then work without another refusal."""
_QUIT_TIMEOUT_S = 15.0
_SELF_RESUME_TIMEOUT_S = 120.0
"""Seconds allowed for an agent that continues by itself or is restarted."""
_START_CHECKS = 24
"""How many times within that period to check whether a started agent has exited again."""
_LAST_LINES, _OWN_MESSAGE_PREFIX = 20, "visor: "
"""Where to find the account launcher's error: in the last lines, and the prefix of its message."""


class PausedPane(Struct, frozen=True, kw_only=True):
    """The pane when the pause started, and the prompt that continues its agent."""

    seen: Observation
    words: str
    resets_at: int | None = None
    goes_on_by_itself: bool = False


async def check_unchanged(context: Context, paused: PausedPane) -> Observation:
    """Observe the pane and return it. Raises ``StepBack`` if it changed since the pause started."""
    before = paused.seen
    seen = await _observe_known_agent(context, before)
    if seen.runtime != before.runtime or seen.agent != before.agent:
        raise StepBack("the pane changed during the pause: its agent is another one, or has exited")
    if before.session and seen.session != before.session:
        raise StepBack("the pane changed during the pause: the agent is in another session")
    if seen.agent and seen.state not in RESTING_STATES:
        raise StepBack(f"the pane changed during the pause: {seen.agent} is {seen.state}")
    if not seen.agent and seen.activity != "prompt":
        raise StepBack("the pane changed during the pause: no shell is at its prompt")
    return seen


async def _observe_known_agent(context: Context, before: Observation) -> Observation:
    """Return the pane once its agent's state is known. Right after the daemon starts there are no signals yet."""
    seen = await context.observe(0)
    # At a shell prompt there is nothing to wait for, because the agent has exited.
    if before.agent and seen.state == "unknown" and seen.activity != "prompt":
        try:
            await context.wait_state(*RESTING_STATES, "running", "waiting_approval", timeout=_START_TIMEOUT_S)
        except TimedOut:
            await context.note("nothing is heard of the agent")
        seen = await context.observe(0)
    return seen


async def resume_agent(context: Context, paused: PausedPane, *, is_own_turn: bool) -> tuple[str, str]:
    """Return (how the agent continued, "") or ("", the problem to show in the plan)."""
    if paused.goes_on_by_itself and is_own_turn:
        try:
            await context.wait_state("running", timeout=_SELF_RESUME_TIMEOUT_S, is_new=True)
        except TimedOut:
            return "", "the agent said that it goes on by itself, and did not"
        return "the limit is over and the agent continued by itself", ""
    try:
        problem = await _prompt_agent(context, paused)
    except NotDone as error:
        if error.status == "expired":
            return "", "nobody said in time whether it may go on"
        raise
    if problem:
        return "", f"its conversation was to be taken up: {problem}"
    return await verify_started(context, "the limit is over and the agent works again")


async def _prompt_agent(context: Context, paused: PausedPane) -> str:
    """Prompt the agent to continue. Return why it could not be restarted, or an empty text."""

    async def check(context: Context) -> Observation:
        return await check_unchanged(context, paused)

    if not paused.seen.agent:
        if not paused.seen.resume:
            raise StepBack("the agent has exited, and how to resume its session is not known")
        return await restart_session(context, paused, paused.seen.resume)
    has_chosen = await leave_limit_dialog(context, paused, check)
    if has_chosen and paused.seen.agent == "gemini":
        return ""  # its option "Keep trying" continues the work
    (await safe_actions.act_safely(context, SendTextRequest(text=paused.words), check)).require_certain()
    return ""


async def leave_limit_dialog(context: Context, paused: PausedPane, check: safe_actions.PaneCheck) -> bool:
    """Close the agent's own limit dialog. Return True if it was open."""
    agent, pane = paused.seen.agent, paused.seen.pane
    choice = LIMIT_DIALOG_CHOICES.get(agent, "")
    if not choice or not any(choice in row for row in (await check_unchanged(context, paused)).screen):
        return False
    answer = AnswerDialog(pane=pane, agent=agent, choice=choice)
    (await safe_actions.act_safely(context, answer, check)).require_certain()
    return True


async def restart_session(context: Context, paused: PausedPane, command: tuple[str, ...]) -> str:
    """Restart the agent at the shell prompt, in the same session, and prompt it to continue.

    Return an empty text, or why it did not start. In that case it is not prompted.
    """

    async def check_no_agent(context: Context) -> None:
        if (await context.observe(0)).agent:
            raise StepBack("the pane changed during the pause: an agent is already running")

    async def check_same_agent(context: Context) -> None:
        if (await context.observe(0)).agent != (paused.seen.agent or context.run.agent):
            raise StepBack("the agent did not start again")

    request = SendTextRequest(text=shlex.join(command))
    (await safe_actions.act_safely(context, request, check_no_agent)).require_certain()
    if problem := await _wait_until_started(context):
        return problem
    # A starting agent paints its screen in steps, and its input is recognizable only at the end.
    still_painting = safe_actions.TRANSIENT_REASONS | safe_actions.OTHER_PROGRAM_REASONS
    prompt = SendTextRequest(text=paused.words)
    result = await safe_actions.act_safely(context, prompt, check_same_agent, transient=still_painting)
    result.require_certain()
    return ""


async def _wait_until_started(context: Context) -> str:
    """Return an empty text once the agent is idle, or why it is not: it exited again or did not start in time."""
    for _ in range(_START_CHECKS):
        try:
            await context.wait_state("idle", "completed", timeout=_SELF_RESUME_TIMEOUT_S / _START_CHECKS)
        except TimedOut:
            seen = await context.observe(_LAST_LINES)
        else:
            return ""
        if not seen.agent and seen.activity == "prompt":
            message = next((line for line in reversed(seen.lines) if line.startswith(_OWN_MESSAGE_PREFIX)), "")
            return message or "it ended at once; the pane shows what it said"
    return f"it was not seen to come up within {_SELF_RESUME_TIMEOUT_S:g} s"


async def verify_started(context: Context, how: str) -> tuple[str, str]:
    """Verify that the agent starts working and is not refused again. Return (``how``, "") or ("", the problem)."""
    try:
        state = await context.wait_state("running", *_STARTED_STATES, timeout=_START_TIMEOUT_S, is_new=True)
        # An agent that is refused again works for a moment before it shows the refusal.
        if state.text == "running":
            state = await context.wait_state(*_STARTED_STATES, timeout=_STABLE_S, is_new=True)
    except TimedOut as error:
        seen = await context.observe(0)
        if seen.state == "running":
            return how, ""
        details = {"status": "failed", "why": "not_taken_up"}
        raise NotDone("the prompt was sent, but the agent did not start to work", details=details) from error
    return ("", "the agent was told to go on and was refused again") if state.text == "error" else (how, "")


async def move_to_other_account(context: Context, paused: PausedPane) -> tuple[str, str]:
    """Return (how the agent continued, "") or ("", the problem to show in the plan)."""
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
        # It may have been started, so nothing more may be typed. A person has to look.
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
