"""An agent reached its usage limit: pause safely, with a plan that a person can read, and go on when the limit is over.

Nothing is typed before that time. Then the agent goes on once, if the pane is as it was left and the person has allowed
it. Whatever came of that, the run never goes on a second time by itself.
"""

import shlex

from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.model.detection.reset_time import round_up_to_minute
from termvisor.workflows.builtin import safe_actions
from termvisor.workflows.builtin.limit_failover import move_to_other_account
from termvisor.workflows.builtin.limit_plan import LimitSituation, render_plan
from termvisor.workflows.builtin.limit_resume import PausedPane, check_unchanged, resume_agent
from termvisor.workflows.calls import Observation, PauseCall, PauseResult
from termvisor.workflows.context import Context, StepBack
from termvisor.workflows.workflow import Trigger, Workflow

SETTING_NAMES = ("pause_on_limit", "auto_resume", "continue_prompt", "failover_profile")
SUPPORTED_AGENTS = ("claude_code", "codex", "gemini")
AUTO_CONTINUE_TEXT = "continuing automatically at"
"""An agent whose screen says this goes on without us."""
_MINUTE_NS = 60 * NS
_DAY_NS = 24 * 60 * _MINUTE_NS
_MAX_PAUSES = 20
_STOP_TIMEOUT_S = 3.0
"""Seconds that an agent which is still seen to work may take to stop."""
_RECHECK_DELAYS_S = (5, 10, 20, 40, 80, 160, 320)
"""One that says itself that its limit is reached may finish what it has at hand: it is looked for again after so many
seconds, and others may work meanwhile."""


async def run(context: Context) -> str:
    wanted = await context.prefer(*SETTING_NAMES)
    if not wanted.is_on("pause_on_limit"):
        raise StepBack("pause_on_limit is off")
    seen = await _wait_until_stopped(context)
    left = PausedPane(
        seen=seen,
        words=wanted.get_text("continue_prompt"),
        resets_at=_find_reset_time(context, seen),
        goes_on_by_itself=any(AUTO_CONTINUE_TEXT in row for row in seen.screen),
    )
    told, trouble = await move_to_other_account(context, left) if wanted.get_text("failover_profile") else ("", "")
    if told:
        return told
    left = replace(left, seen=await context.observe(0)) if trouble else left
    due = _compute_due_time(left, seen.at)
    for _ in range(_MAX_PAUSES):
        paused = await _pause(context, left, due if wanted.is_on("auto_resume") else None, trouble)
        if paused.why == "changed":
            return await _finish_changed(context, left, paused)
        wanted = await context.prefer(*SETTING_NAMES)
        if paused.why == "due" and not wanted.is_on("auto_resume"):
            due, trouble = None, "auto_resume is off"
            continue
        now = await check_unchanged(context, left)
        if paused.why == "due" and now.resets_at is not None and now.resets_at > now.at + _MINUTE_NS:
            left = replace(left, resets_at=now.resets_at)
            due, trouble = _compute_due_time(left, now.at), "the limit was moved"
            continue
        left = replace(left, words=wanted.get_text("continue_prompt"))
        told, trouble = await resume_agent(context, left, is_own_turn=paused.why == "due")
        if told:
            return told
        due = None  # it was tried: from now on a person decides
    raise StepBack("it was paused too often")


async def _wait_until_stopped(context: Context) -> Observation:
    """The agent, once it is seen to have stopped; what started the run must still be so."""
    seen = await context.observe(0)
    pauses = iter(_RECHECK_DELAYS_S if seen.usage_limited else ())
    while seen.agent and seen.state == "running":
        if not await safe_actions.wait_until_stopped(context, _STOP_TIMEOUT_S):
            if (pause := next(pauses, None)) is None:
                raise StepBack("the agent works on")
            await context.sleep(pause)
        seen = await context.observe(0)
    if seen.agent and context.run.runtime not in (None, seen.runtime):
        raise StepBack("another agent is in the pane")
    if seen.usage_limited:
        return seen
    held = await context.still()
    if not held.is_so:
        raise StepBack(f"the limit is over: {held.why}")
    return seen


def _find_reset_time(context: Context, observation: Observation) -> int | None:
    """When the limit ends: the latest of what the agent, its screen and its text say."""
    told = context.facts.get("resets_at")
    ends = [one for one in (observation.resets_at, told) if isinstance(one, int) and not isinstance(one, bool)]
    return max(ends, default=None)


def _compute_due_time(paused: PausedPane, now: int) -> int | None:
    """A little later than the end, and a minute later where only the minute was told; at once where that is past.

    None where no end was told, or one so long ago that it is no word about this limit.
    """
    if paused.resets_at is None or paused.resets_at < now - _DAY_NS:
        return None
    return max(round_up_to_minute(paused.resets_at), paused.resets_at + 5 * NS, now)


async def _pause(context: Context, paused: PausedPane, due: int | None, trouble: str) -> PauseResult:
    run, seen = context.run, paused.seen
    situation = LimitSituation(
        run=run.id,
        agent=seen.agent or run.agent,
        session=seen.session,
        command=shlex.join(seen.resume),
        cwd=seen.cwd,
        words=paused.words,
        now=seen.at,
        resets_at=paused.resets_at,
        due=due,
        goes_on_by_itself=paused.goes_on_by_itself,
        trouble=trouble,
    )
    pause = PauseCall(
        plan=render_plan(situation),
        until=due,
        runtime=seen.runtime if seen.agent else None,
        unless=("running",),
        needs=("pause_on_limit",),
    )
    return await context.pause_until_changed(pause)


async def _finish_changed(context: Context, left_pane: PausedPane, paused: PauseResult) -> str:
    """The agent went on before us: by itself at the end of the limit, or because a person said something to it."""
    now = await context.now()
    is_over = left_pane.resets_at is not None and now >= left_pane.resets_at - _MINUTE_NS
    if left_pane.goes_on_by_itself and is_over and paused.text.endswith("running"):
        return "the limit is over and the agent went on by itself"
    raise StepBack(f"the pane is not as it was left: {paused.text}")


WORKFLOW = Workflow(
    name="handle_usage_limits",
    summary="At a usage limit, pause with a plan, and have the agent go on when the limit is over.",
    trigger=Trigger(events=("usage.reached",), agents=SUPPORTED_AGENTS, fresh_for=3600.0),
    timeout=1800.0,
    outlives_agent=True,
    run=run,
    steps=(
        "look whether the agent has stopped, and when the limit ends",
        "pause with a plan: when, what, the command, what a person can do",
        "at the end of the limit look whether the pane is as it was left",
        "have the agent go on, once; one that goes on by itself is only watched",
        "see that it begins; a refusal is shown and not answered",
    ),
)
