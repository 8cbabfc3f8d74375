"""After a compaction the agent reads its notes again: told once, on a settled screen, and seen to be taken up."""

from termvisor.errors import NotDone, TimedOut
from termvisor.model.agent.state import StateName
from termvisor.workflows.builtin import safe_actions
from termvisor.workflows.calls import Observation, SendTextRequest
from termvisor.workflows.context import Context, StepBack
from termvisor.workflows.workflow import Trigger, Workflow

REFRESH_PROMPTS = {
    "claude_code": "Reread AGENTS.md so it's still fresh in your mind.",
    "codex": "Please re-read AGENTS.md and any key project context files.",
    "gemini": "Please re-examine AGENTS.md and project context.",
}
"""What is said where neither the project nor the person says something else."""
DEFAULT_REFRESH_PROMPT = "Please re-read AGENTS.md and any key project context files."
EVIDENCE_LINES = 50
"""Among so many of the last lines the compaction must still be told."""
SETTLE_S = 2.0
_SETTLE_TIMEOUT_S = 20.0
"""Seconds after which an agent that goes on working counts as settled: it takes the prompt when it can."""
_TAKEN_UP_TIMEOUT_S = 30.0
_TAKEN_UP_STATES: tuple[StateName, ...] = ("running", "waiting_approval", "waiting_input", "completed", "error")


async def run(context: Context) -> str:
    held = await context.still(lines=EVIDENCE_LINES)
    if not held.is_so:
        raise StepBack(f"the compaction is past: {held.why}")
    await _wait_until_settled(context)
    wanted = await context.prefer("compaction_prompt")
    if wanted.trouble:
        await context.note(f"the project's own prompt does not count: {wanted.trouble}")
    words = wanted.get_text("compaction_prompt") or REFRESH_PROMPTS.get(context.run.agent, DEFAULT_REFRESH_PROMPT)
    before = await _check_agent_ready(context)
    safe_actions.require_certain(
        await safe_actions.act_safely(context, SendTextRequest(text=words), _check_agent_ready)
    )
    return await _verify_taken_up(context, before)


async def _wait_until_settled(context: Context) -> None:
    try:
        await context.wait_stable(SETTLE_S, timeout=_SETTLE_TIMEOUT_S)
    except TimedOut:
        await context.note("the agent goes on working")


async def _check_agent_ready(context: Context) -> Observation:
    """The agent that compacted is there, and is not about to do so again."""
    seen = await context.observe(0)
    if not seen.agent:
        raise StepBack("another program has the screen" if seen.is_alternate else "its agent has left the pane")
    if context.run.runtime is not None and seen.runtime != context.run.runtime:
        raise StepBack("another agent is in the pane")
    if seen.compacting:
        raise StepBack("the agent compacts again")
    return seen


async def _verify_taken_up(context: Context, before: Observation) -> str:
    """An agent that was at work has it in its queue; one that was at rest begins to work."""
    if before.state == "running":
        return "the prompt was sent; the agent takes it with its work"
    try:
        met = await context.wait_state(*_TAKEN_UP_STATES, timeout=_TAKEN_UP_TIMEOUT_S, is_new=True)
    except TimedOut as error:
        details = {"status": "failed", "why": "not_taken_up"}
        raise NotDone("the prompt was sent, and the agent was not seen to take it up", details=details) from error
    return f"the prompt was sent and taken up ({met.text})"


WORKFLOW = Workflow(
    name="handle_compaction",
    summary="After a compaction, have the agent read its notes again.",
    trigger=Trigger(events=("session.compaction",), fresh_for=300.0),
    timeout=600.0,
    run=run,
    steps=(
        "look whether the compaction is still to be seen",
        "wait until the screen has settled for 2 s",
        "send the refresh prompt of the project, of the settings, or the usual one",
        "see that the agent takes it up",
    ),
)
