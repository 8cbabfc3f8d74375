"""Has an agent go on whose usage limit is over: once, in a pane that is as it was left, and seen to begin."""

import shlex

from msgspec import Struct

from termvisor.errors import NotDone, TimedOut
from termvisor.model.action.action import AnswerDialog
from termvisor.model.agent.state import StateName
from termvisor.workflows.builtin import safe_actions as caution
from termvisor.workflows.calls import Observation, SendTo
from termvisor.workflows.context import Context, StepBack

CHOICES = {"codex": "Keep current model", "gemini": "Keep trying"}
"""The choice in an agent's own dialog about the limit that changes nothing."""
RESTS: tuple[StateName, ...] = ("idle", "completed", "error", "waiting_input")
_BEGUN: tuple[StateName, ...] = ("waiting_approval", "completed", "error")
_STARTS_WITHIN, _HOLDS_FOR, _OWN_WITHIN = 30.0, 15.0, 120.0
"""Seconds: an agent that was told to go on may take to begin; it must then be at work without a new refusal; one that
goes on by itself, or is started anew, may be late."""
_LOOKS = 24
"""So often within that time it is looked whether one that was started has ended again."""
_LAST_LINES, _OWN_WORDS = 20, "visor: "
"""Among the last lines, what our own start of a program under an account says where it cannot be done."""


class Left(Struct, frozen=True, kw_only=True):
    """The pane as it was left, and what is to be said to its agent."""

    seen: Observation
    words: str
    resets_at: int | None = None
    goes_on_by_itself: bool = False


async def as_left(context: Context, left: Left) -> Observation:
    """Raises ``StepBack`` where somebody else was there."""
    before = left.seen
    seen = await _known(context, before)
    if seen.runtime != before.runtime or seen.agent != before.agent:
        raise StepBack("the pane is not as it was left: its agent is another one, or has left")
    if before.session and seen.session != before.session:
        raise StepBack("the pane is not as it was left: the agent is in another conversation")
    if seen.agent and seen.state not in RESTS:
        raise StepBack(f"the pane is not as it was left: {seen.agent} is {seen.state}")
    if not seen.agent and seen.activity != "prompt":
        raise StepBack("the pane is not as it was left: no shell waits at its prompt")
    return seen


async def _known(context: Context, before: Observation) -> Observation:
    """The pane, once its agent is known again: right after a start of the daemon nothing was heard of it yet."""
    seen = await context.observe(0)
    if before.agent and seen.state == "unknown" and seen.activity != "prompt":
        try:
            await context.wait_state(*RESTS, "running", "waiting_approval", timeout=_STARTS_WITHIN)
        except TimedOut:
            await context.note("nothing is heard of the agent")
        seen = await context.observe(0)
    return seen


async def gone_on(context: Context, left: Left, *, is_own_turn: bool) -> tuple[str, str]:
    """How it went on; or why it did not, for the plan that follows."""
    if left.goes_on_by_itself and is_own_turn:
        try:
            await context.wait_state("running", timeout=_OWN_WITHIN, is_new=True)
        except TimedOut:
            return "", "the agent said that it goes on by itself, and did not"
        return "the limit is over and the agent went on by itself", ""
    try:
        trouble = await _driven(context, left)
    except NotDone as error:
        if error.status == "expired":
            return "", "nobody said in time whether it may go on"
        raise
    if trouble:
        return "", f"its conversation was to be taken up: {trouble}"
    return await began(context, "the limit is over and the agent works again")


async def _driven(context: Context, left: Left) -> str:
    """Empty; or why the agent did not come back."""

    async def check(context: Context) -> Observation:
        return await as_left(context, left)

    if not left.seen.agent:
        if not left.seen.resume:
            raise StepBack("the agent has left, and how its conversation is taken up is not known")
        return await taken_up(context, left, left.seen.resume)
    has_chosen = await out_of_dialog(context, left, check)
    if has_chosen and left.seen.agent == "gemini":
        return ""  # to keep trying is to go on
    caution.sure(await caution.act(context, SendTo(text=left.words), check))
    return ""


async def out_of_dialog(context: Context, left: Left, check: caution.Check) -> bool:
    """Whether the agent's own dialog about its limit was open, and is left."""
    agent, pane = left.seen.agent, left.seen.pane
    choice = CHOICES.get(agent, "")
    if not choice or not any(choice in row for row in (await as_left(context, left)).screen):
        return False
    caution.sure(await caution.act(context, AnswerDialog(pane=pane, agent=agent, choice=choice), check))
    return True


async def taken_up(context: Context, left: Left, command: tuple[str, ...]) -> str:
    """The agent is started again at the shell's prompt, in the same conversation, and told to go on. Empty; or why it
    did not come up: then it is not told anything."""

    async def at_prompt(context: Context) -> None:
        if (await context.observe(0)).agent:
            raise StepBack("the pane is not as it was left: an agent is there already")

    async def same_agent(context: Context) -> None:
        if (await context.observe(0)).agent != (left.seen.agent or context.run.agent):
            raise StepBack("the agent did not come back")

    caution.sure(await caution.act(context, SendTo(text=shlex.join(command)), at_prompt))
    if trouble := await _not_up(context):
        return trouble
    still_painting = caution.PASSING | caution.FOREIGN
    caution.sure(await caution.act(context, SendTo(text=left.words), same_agent, passing=still_painting))
    return ""


async def _not_up(context: Context) -> str:
    """Empty once the agent is at rest; why not, where the shell is back at its prompt or the time is over."""
    for _ in range(_LOOKS):
        try:
            await context.wait_state("idle", "completed", timeout=_OWN_WITHIN / _LOOKS)
        except TimedOut:
            seen = await context.observe(_LAST_LINES)
        else:
            return ""
        if not seen.agent and seen.activity == "prompt":
            said = next((line for line in reversed(seen.lines) if line.startswith(_OWN_WORDS)), "")
            return said or "it ended at once; the pane shows what it said"
    return f"it was not seen to come up within {_OWN_WITHIN:g} s"


async def began(context: Context, how: str) -> tuple[str, str]:
    """The agent is seen to begin, and is not refused again right away."""
    try:
        met = await context.wait_state("running", *_BEGUN, timeout=_STARTS_WITHIN, is_new=True)
        if met.text == "running":
            met = await context.wait_state(*_BEGUN, timeout=_HOLDS_FOR, is_new=True)
    except TimedOut as error:
        seen = await context.observe(0)
        if seen.state == "running":
            return how, ""
        details = {"status": "failed", "why": "not_taken_up"}
        raise NotDone("it was told to go on, and was not seen to begin", details=details) from error
    return ("", "the agent was told to go on and was refused again") if met.text == "error" else (how, "")
