"""Pause an agent that reached its usage limit, show people a plan, and continue the agent when the limit ends.

Nothing is typed before then. The agent is continued once, if the pane is unchanged and the settings allow it.
Whatever the result, the run never tries a second time by itself.
"""

import shlex

from msgspec import Struct
from msgspec.structs import replace

from termvisor.clock import NS, format_timestamp
from termvisor.model.detection.reset_time import round_up_to_minute
from termvisor.workflows.builtin import safe_actions
from termvisor.workflows.builtin.limit_resume import PausedPane, check_unchanged, move_to_other_account, resume_agent
from termvisor.workflows.calls import PauseCall
from termvisor.workflows.context import Context, StepBack
from termvisor.workflows.results import Observation, PauseResult
from termvisor.workflows.workflow import Trigger, Workflow

SETTING_NAMES = ("pause_on_limit", "auto_resume", "continue_prompt", "failover_profile")
SUPPORTED_AGENTS = ("claude_code", "codex", "gemini")
AUTO_CONTINUE_TEXT = "continuing automatically at"
"""An agent that shows this text continues by itself."""
_MINUTE_NS = 60 * NS
_DAY_NS = 24 * 60 * _MINUTE_NS
# Each postponed or failed continuation adds a pause, and a run must not loop forever.
_MAX_PAUSES = 20
_STOP_TIMEOUT_S = 3.0
"""Seconds allowed for an agent that is still working to stop."""
_RECHECK_DELAYS_S = (5, 10, 20, 40, 80, 160, 320)
"""Seconds between checks of an agent that reported its limit but finishes its current work first. The run occupies no
slot meanwhile."""


async def run(context: Context) -> str:
    settings = await context.prefer(*SETTING_NAMES)
    if not settings.is_on("pause_on_limit"):
        raise StepBack("pause_on_limit is off")
    seen = await _wait_until_stopped(context)
    pane = PausedPane(
        seen=seen,
        words=settings.get_text("continue_prompt"),
        resets_at=_find_reset_time(context, seen),
        goes_on_by_itself=any(AUTO_CONTINUE_TEXT in row for row in seen.screen),
    )
    result, problem = await move_to_other_account(context, pane) if settings.get_text("failover_profile") else ("", "")
    if result:
        return result
    # A failed move may have changed the state of the agent or its shell, which the pause compares with.
    pane = replace(pane, seen=await context.observe(0)) if problem else pane
    due = _compute_due_time(pane, seen.at)
    for _ in range(_MAX_PAUSES):
        paused = await _pause(context, pane, due if settings.is_on("auto_resume") else None, problem)
        if paused.why == "changed":
            return await _finish_changed(context, pane, paused)
        settings = await context.prefer(*SETTING_NAMES)
        if paused.why == "due" and not settings.is_on("auto_resume"):
            due, problem = None, "auto_resume is off"
            continue
        now = await check_unchanged(context, pane)
        # The agent now states a later end. Such texts are precise to the minute.
        if paused.why == "due" and now.resets_at is not None and now.resets_at > now.at + _MINUTE_NS:
            pane = replace(pane, resets_at=now.resets_at)
            due, problem = _compute_due_time(pane, now.at), "the limit was moved"
            continue
        pane = replace(pane, words=settings.get_text("continue_prompt"))
        result, problem = await resume_agent(context, pane, is_own_turn=paused.why == "due")
        if result:
            return result
        due = None  # already tried once: from now on a person decides
    raise StepBack(f"it was paused {_MAX_PAUSES} times")


async def _wait_until_stopped(context: Context) -> Observation:
    """Return the pane once its agent has stopped. Raises ``StepBack`` if it does not, or if the limit is over."""
    seen = await context.observe(0)
    # Without the flag, only a text was seen, and an agent that keeps working was not stopped by a limit.
    delays = iter(_RECHECK_DELAYS_S if seen.usage_limited else ())
    while seen.agent and seen.state == "running":
        if not await safe_actions.wait_until_stopped(context, _STOP_TIMEOUT_S):
            if (delay := next(delays, None)) is None:
                raise StepBack("the agent is still working")
            await context.sleep(delay)
        seen = await context.observe(0)
    if seen.agent and context.run.runtime not in (None, seen.runtime):
        raise StepBack("another agent runs in the pane")
    if seen.usage_limited:
        return seen
    check = await context.still()
    if not check.is_so:
        raise StepBack(f"the limit is over: {check.why}")
    return seen


def _find_reset_time(context: Context, observation: Observation) -> int | None:
    """Return the latest reset time reported by the agent's state or the event."""
    times = (observation.resets_at, context.facts.get("resets_at"))
    return max((at for at in times if isinstance(at, int) and not isinstance(at, bool)), default=None)


def _compute_due_time(paused: PausedPane, now: int) -> int | None:
    """Return when to continue: a little after the reset time, rounded up to the next minute, but not before now.

    None if the reset time is unknown, or more than a day ago and so not about this limit.
    """
    if paused.resets_at is None or paused.resets_at < now - _DAY_NS:
        return None
    # Texts state the end without seconds, so an agent prompted at that very time may be refused again.
    return max(round_up_to_minute(paused.resets_at), paused.resets_at + 5 * NS, now)


async def _pause(context: Context, paused: PausedPane, due: int | None, problem: str) -> PauseResult:
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
        problem=problem,
    )
    pause = PauseCall(
        plan=render_plan(situation),
        until=due,
        runtime=seen.runtime if seen.agent else None,
        # A person who lets the agent continue makes the plan obsolete.
        unless=("running",),
        needs=("pause_on_limit",),
    )
    return await context.pause_until_changed(pause)


async def _finish_changed(context: Context, pane: PausedPane, paused: PauseResult) -> str:
    """Return how the run ended: the agent continued by itself after the reset, or a person used the pane."""
    now = await context.now()
    is_over = pane.resets_at is not None and now >= pane.resets_at - _MINUTE_NS
    if pane.goes_on_by_itself and is_over and paused.text.endswith("running"):
        return "the limit is over and the agent continued by itself"
    raise StepBack(f"the pane changed during the pause: {paused.text}")


class LimitSituation(Struct, frozen=True, kw_only=True):
    """The contents of the plan shown to people. All times are in UTC."""

    run: int
    agent: str
    session: str = ""
    command: str = ""
    """The shell command that resumes the session."""
    cwd: str = ""
    words: str = "proceed."
    now: int
    resets_at: int | None = None
    due: int | None = None
    goes_on_by_itself: bool = False
    problem: str = ""
    """The reason why a person must decide."""


def render_plan(situation: LimitSituation) -> str:
    """Return the plan: the problem, if any, then when, what, how to do it by hand, and what a person can do.

    The text is part of the journaled pause, so a change requires a new workflow version.
    """
    lines = [
        f"When: {_describe_time(situation)}",
        f"What: {_describe_action(situation)}",
        f"By hand: {_describe_manual_command(situation)}",
        f"You can: {_describe_commands(situation)}",
    ]
    return "\n".join([f"Trouble: {situation.problem}", *lines] if situation.problem else lines)


def _describe_time(situation: LimitSituation) -> str:
    agent, resets_at, now = situation.agent, situation.resets_at, situation.now
    if resets_at is None:
        return f"{agent} reached its usage limit and did not say when that ends"
    if resets_at <= now:
        return f"the usage limit of {agent} ended at {format_time(resets_at)}, by its own words"
    return f"the usage limit of {agent} ends at {format_time(resets_at)}, in {format_duration(resets_at - now)}"


def _describe_action(situation: LimitSituation) -> str:
    session = f" in session {situation.session}" if situation.session else ""
    if situation.goes_on_by_itself:
        return f"{situation.agent} goes on by itself{session}; nothing is sent"
    if situation.due is None:
        return f"nothing is sent{session} before a person says so"
    return f"at {format_time(situation.due)} {situation.words!r} is sent once{session}, if the pane is as it was left"


def _describe_manual_command(situation: LimitSituation) -> str:
    if not situation.command:
        return f"type {situation.words!r} in the pane"
    return f"cd {situation.cwd} && {situation.command}" if situation.cwd else situation.command


def _describe_commands(situation: LimitSituation) -> str:
    return (
        f"`visor workflow resume {situation.run}` goes on now, `visor workflow cancel {situation.run}` drops the plan,"
        " `visor config set auto_resume false` has it wait for you"
    )


def format_time(at: int) -> str:
    return f"{format_timestamp(at)[:19].replace('T', ' ')} UTC"


def format_duration(nanoseconds: int) -> str:
    minutes, seconds = divmod(max(0, nanoseconds) // NS, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [(days, "d"), (hours, "h"), (minutes, "min"), (seconds, "s")]
    first = next((index for index, (count, _) in enumerate(parts) if count), len(parts) - 1)
    return " ".join(f"{count} {unit}" for count, unit in parts[first : first + 2] if count) or "0 s"


WORKFLOW = Workflow(
    name="handle_usage_limits",
    summary="Pause an agent at its usage limit with a plan, and continue it when the limit is over.",
    trigger=Trigger(events=("usage.reached",), agents=SUPPORTED_AGENTS, fresh_for=3600.0),
    timeout=1800.0,
    outlives_agent=True,
    run=run,
    steps=(
        "wait until the agent has stopped, and find the reset time",
        "pause with a plan: when, what, the command, what a person can do",
        "at the reset time check that the pane is unchanged",
        "continue the agent once; one that continues by itself is only watched",
        "verify that it starts to work; a new refusal is shown and not answered",
    ),
)
