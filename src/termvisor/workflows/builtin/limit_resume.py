"""Has an agent go on whose usage limit is over: once, in a pane that is as it was left, and seen to begin."""

import shlex

from msgspec import Struct

from termvisor.errors import NotDone, TimedOut
from termvisor.model.action.action import AnswerDialog
from termvisor.model.agent.state import StateName
from termvisor.workflows.builtin import safe_actions
from termvisor.workflows.calls import Observation, SendTextRequest
from termvisor.workflows.context import Context, StepBack

LIMIT_DIALOG_CHOICES = {"codex": "Keep current model", "gemini": "Keep trying"}
"""The choice in an agent's own dialog about the limit that changes nothing."""
RESTING_STATES: tuple[StateName, ...] = ("idle", "completed", "error", "waiting_input")
_STARTED_STATES: tuple[StateName, ...] = ("waiting_approval", "completed", "error")
_START_TIMEOUT_S, _STABLE_S, _SELF_RESUME_TIMEOUT_S = 30.0, 15.0, 120.0
"""Seconds: an agent that was told to go on may take to begin; it must then be at work without a new refusal; one that
goes on by itself, or is started anew, may be late."""
_START_CHECKS = 24
"""So often within that time it is looked whether one that was started has ended again."""
_LAST_LINES, _OWN_MESSAGE_PREFIX = 20, "visor: "
"""Among the last lines, what our own start of a program under an account says where it cannot be done."""


class PausedPane(Struct, frozen=True, kw_only=True):
    """The pane as it was left, and what is to be said to its agent."""

    seen: Observation
    words: str
    resets_at: int | None = None
    goes_on_by_itself: bool = False


async def check_unchanged(context: Context, paused: PausedPane) -> Observation:
    """Raises ``StepBack`` where somebody else was there."""
    before = paused.seen
    seen = await _observe_known_agent(context, before)
    if seen.runtime != before.runtime or seen.agent != before.agent:
        raise StepBack("the pane is not as it was left: its agent is another one, or has left")
    if before.session and seen.session != before.session:
        raise StepBack("the pane is not as it was left: the agent is in another conversation")
    if seen.agent and seen.state not in RESTING_STATES:
        raise StepBack(f"the pane is not as it was left: {seen.agent} is {seen.state}")
    if not seen.agent and seen.activity != "prompt":
        raise StepBack("the pane is not as it was left: no shell waits at its prompt")
    return seen


async def _observe_known_agent(context: Context, before: Observation) -> Observation:
    """The pane, once its agent is known again: right after a start of the daemon nothing was heard of it yet."""
    seen = await context.observe(0)
    if before.agent and seen.state == "unknown" and seen.activity != "prompt":
        try:
            await context.wait_state(*RESTING_STATES, "running", "waiting_approval", timeout=_START_TIMEOUT_S)
        except TimedOut:
            await context.note("nothing is heard of the agent")
        seen = await context.observe(0)
    return seen


async def resume_agent(context: Context, paused: PausedPane, *, is_own_turn: bool) -> tuple[str, str]:
    """How it went on; or why it did not, for the plan that follows."""
    if paused.goes_on_by_itself and is_own_turn:
        try:
            await context.wait_state("running", timeout=_SELF_RESUME_TIMEOUT_S, is_new=True)
        except TimedOut:
            return "", "the agent said that it goes on by itself, and did not"
        return "the limit is over and the agent went on by itself", ""
    try:
        trouble = await _prompt_agent(context, paused)
    except NotDone as error:
        if error.status == "expired":
            return "", "nobody said in time whether it may go on"
        raise
    if trouble:
        return "", f"its conversation was to be taken up: {trouble}"
    return await verify_started(context, "the limit is over and the agent works again")


async def _prompt_agent(context: Context, paused: PausedPane) -> str:
    """Empty; or why the agent did not come back."""

    async def check(context: Context) -> Observation:
        return await check_unchanged(context, paused)

    if not paused.seen.agent:
        if not paused.seen.resume:
            raise StepBack("the agent has left, and how its conversation is taken up is not known")
        return await restart_session(context, paused, paused.seen.resume)
    has_chosen = await leave_limit_dialog(context, paused, check)
    if has_chosen and paused.seen.agent == "gemini":
        return ""  # to keep trying is to go on
    safe_actions.require_certain(await safe_actions.act_safely(context, SendTextRequest(text=paused.words), check))
    return ""


async def leave_limit_dialog(context: Context, paused: PausedPane, check: safe_actions.PaneCheck) -> bool:
    """Whether the agent's own dialog about its limit was open, and is left."""
    agent, pane = paused.seen.agent, paused.seen.pane
    choice = LIMIT_DIALOG_CHOICES.get(agent, "")
    if not choice or not any(choice in row for row in (await check_unchanged(context, paused)).screen):
        return False
    safe_actions.require_certain(
        await safe_actions.act_safely(context, AnswerDialog(pane=pane, agent=agent, choice=choice), check)
    )
    return True


async def restart_session(context: Context, paused: PausedPane, command: tuple[str, ...]) -> str:
    """The agent is started again at the shell's prompt, in the same conversation, and told to go on. Empty; or why it
    did not come up: then it is not told anything."""

    async def check_no_agent(context: Context) -> None:
        if (await context.observe(0)).agent:
            raise StepBack("the pane is not as it was left: an agent is there already")

    async def check_same_agent(context: Context) -> None:
        if (await context.observe(0)).agent != (paused.seen.agent or context.run.agent):
            raise StepBack("the agent did not come back")

    safe_actions.require_certain(
        await safe_actions.act_safely(context, SendTextRequest(text=shlex.join(command)), check_no_agent)
    )
    if trouble := await _wait_until_started(context):
        return trouble
    still_painting = safe_actions.TRANSIENT_REASONS | safe_actions.OTHER_PROGRAM_REASONS
    safe_actions.require_certain(
        await safe_actions.act_safely(
            context, SendTextRequest(text=paused.words), check_same_agent, transient=still_painting
        )
    )
    return ""


async def _wait_until_started(context: Context) -> str:
    """Empty once the agent is at rest; why not, where the shell is back at its prompt or the time is over."""
    for _ in range(_START_CHECKS):
        try:
            await context.wait_state("idle", "completed", timeout=_SELF_RESUME_TIMEOUT_S / _START_CHECKS)
        except TimedOut:
            seen = await context.observe(_LAST_LINES)
        else:
            return ""
        if not seen.agent and seen.activity == "prompt":
            said = next((line for line in reversed(seen.lines) if line.startswith(_OWN_MESSAGE_PREFIX)), "")
            return said or "it ended at once; the pane shows what it said"
    return f"it was not seen to come up within {_SELF_RESUME_TIMEOUT_S:g} s"


async def verify_started(context: Context, how: str) -> tuple[str, str]:
    """The agent is seen to begin, and is not refused again right away."""
    try:
        met = await context.wait_state("running", *_STARTED_STATES, timeout=_START_TIMEOUT_S, is_new=True)
        if met.text == "running":
            met = await context.wait_state(*_STARTED_STATES, timeout=_STABLE_S, is_new=True)
    except TimedOut as error:
        seen = await context.observe(0)
        if seen.state == "running":
            return how, ""
        details = {"status": "failed", "why": "not_taken_up"}
        raise NotDone("it was told to go on, and was not seen to begin", details=details) from error
    return ("", "the agent was told to go on and was refused again") if met.text == "error" else (how, "")
