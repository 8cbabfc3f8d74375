"""Prompt an agent once, on a settled screen, to re-read its notes after a compaction, and verify that it starts."""

from termvisor.errors import NotDone, TimedOut
from termvisor.model.agent.state import StateName
from termvisor.workflows.builtin import safe_actions
from termvisor.workflows.calls import SendTextRequest
from termvisor.workflows.context import Context, StepBack
from termvisor.workflows.results import Observation
from termvisor.workflows.workflow import Trigger, Workflow

REFRESH_PROMPTS = {
    "claude_code": "Reread AGENTS.md so it's still fresh in your mind.",
    "codex": "Please re-read AGENTS.md and any key project context files.",
    "gemini": "Please re-examine AGENTS.md and project context.",
}
"""The prompts used if neither the project nor the settings define one."""
DEFAULT_REFRESH_PROMPT = "Please re-read AGENTS.md and any key project context files."
EVIDENCE_LINES = 50
"""The compaction must still be visible within this many of the last lines."""
SETTLE_S = 2.0
_SETTLE_TIMEOUT_S = 20.0
"""Seconds after which an agent that is still working counts as settled, because it queues the prompt."""
_TAKEN_UP_TIMEOUT_S = 30.0
_TAKEN_UP_STATES: tuple[StateName, ...] = ("running", "waiting_approval", "waiting_input", "completed", "error")


async def run(context: Context) -> str:
    check = await context.still(lines=EVIDENCE_LINES)
    if not check.is_so:
        raise StepBack(f"the compaction is over: {check.why}")
    await _wait_until_settled(context)
    settings = await context.prefer("compaction_prompt")
    if settings.trouble:
        await context.note(f"the project's own prompt does not count: {settings.trouble}")
    text = settings.get_text("compaction_prompt") or REFRESH_PROMPTS.get(context.run.agent, DEFAULT_REFRESH_PROMPT)
    before = await _check_agent_ready(context)
    (await safe_actions.act_safely(context, SendTextRequest(text=text), _check_agent_ready)).require_certain()
    return await _verify_taken_up(context, before)


async def _wait_until_settled(context: Context) -> None:
    try:
        await context.wait_stable(SETTLE_S, timeout=_SETTLE_TIMEOUT_S)
    except TimedOut:
        await context.note("the agent goes on working")


async def _check_agent_ready(context: Context) -> Observation:
    """Return the pane if the same agent is there and not compacting again. Raises ``StepBack`` otherwise."""
    seen = await context.observe(0)
    if not seen.agent:
        raise StepBack("another program has the screen" if seen.is_alternate else "its agent has exited")
    if context.run.runtime is not None and seen.runtime != context.run.runtime:
        raise StepBack("another agent runs in the pane")
    if seen.compacting:
        raise StepBack("the agent is compacting again")
    return seen


async def _verify_taken_up(context: Context, before: Observation) -> str:
    """Verify that an idle agent starts to work. A working agent queues the prompt."""
    if before.state == "running":
        return "the prompt was sent; the agent has queued it"
    try:
        started = await context.wait_state(*_TAKEN_UP_STATES, timeout=_TAKEN_UP_TIMEOUT_S, is_new=True)
    except TimedOut as error:
        details = {"status": "failed", "why": "not_taken_up"}
        raise NotDone("the prompt was sent, but the agent did not start to work", details=details) from error
    return f"the prompt was sent and the agent started to work ({started.text})"


WORKFLOW = Workflow(
    name="handle_compaction",
    summary="Prompt an agent to re-read its notes after a compaction.",
    trigger=Trigger(events=("session.compaction",), fresh_for=300.0),
    timeout=600.0,
    run=run,
    steps=(
        "check that the pane still shows the compaction",
        "wait until the screen has settled for 2 s",
        "send the refresh prompt of the project, of the settings, or the default one",
        "verify that the agent starts to work",
    ),
)
