"""Resume the session of a crashed agent.

It resumes in the same pane if the shell there is known to be at its prompt. Otherwise a new window is opened and the
pane is left alone: a killed agent may leave its full-screen view behind, and some shells send no prompt marks. At the
third crash within ten minutes a person is notified and nothing is restarted.
"""

import shlex

from termvisor.errors import NotDone, TimedOut
from termvisor.workflows.builtin import safe_actions
from termvisor.workflows.calls import SpawnRequest, WaitFor
from termvisor.workflows.context import Context, StepBack
from termvisor.workflows.results import Observation, SessionRecord
from termvisor.workflows.workflow import Trigger, Workflow

CRASH_EVENT = "agent.crashed"
MAX_CRASHES = 3
"""Number of crashes within ``CRASH_WINDOW_S`` after which the agent is not restarted."""
CRASH_WINDOW_S = 600.0
_PROMPT_TIMEOUT_S = 10.0
_START_CHECKS, _START_CHECK_INTERVAL_S = 12, 5.0
_START_TIMEOUT_S = 60.0
_DECLINED_REASONS = {"denied": "a person denied it", "expired": "no answer in time"}


async def run(context: Context) -> str:
    session = await context.last_session(context.run.runtime)
    if not session.resume:
        raise StepBack("its session cannot be resumed: the agent reported no session id")
    crashes = len((await context.recall(CRASH_EVENT, CRASH_WINDOW_S)).found)
    if crashes >= MAX_CRASHES:
        return await _report_crash_loop(context, session, crashes)
    # The shell prints its prompt a moment after the agent is gone.
    seen = await _wait_for_prompt(context)
    if seen.agent:
        raise StepBack(f"{seen.agent} runs in the pane again")
    why = str(context.facts.get("why") or "it ended without a goodbye")
    await context.note(f"{session.agent} is gone from pane {seen.pane}: {why}")
    is_free = seen.activity == "prompt" and not seen.is_alternate
    try:
        if is_free:
            result = await context.send(build_resume_command(session, seen))
        else:
            # A window whose program fails stays open, to show why.
            window = SpawnRequest(command=session.resume, cwd=session.cwd, name=session.agent, keeps_failure=True)
            result = await context.act(window)
    except NotDone as error:
        raise StepBack(_DECLINED_REASONS.get(error.why, error.message)) from error
    # The session itself verifies the restart below, so an unknown outcome is no reason to give up.
    if result.status == "unknown":
        await context.note(f"it is not known whether it was started ({result.why}): only what is seen counts")
    return await _verify_restart(context, session) if is_free else await _verify_new_window(context, session)


async def _wait_for_prompt(context: Context) -> Observation:
    """Return the pane once its shell is at its prompt, or after ``_PROMPT_TIMEOUT_S``."""
    try:
        await context.wait_for(WaitFor(prompt=True, timeout=_PROMPT_TIMEOUT_S))
    except TimedOut:
        await context.note("the pane shows no shell's prompt")
    return await context.observe(0)


def build_resume_command(session: SessionRecord, observation: Observation) -> str:
    """Return the shell command. It changes the folder, because agents find a session only where it started."""
    command = shlex.join(session.resume)
    is_same_folder = not session.cwd or session.cwd == observation.cwd
    return command if is_same_folder else f"cd {shlex.quote(session.cwd)} && {command}"


async def _verify_restart(context: Context, session: SessionRecord) -> str:
    """Verify that the agent starts with this session. A failure is reported, not retried."""
    try:
        await context.wait_for(WaitFor(session=session.session, timeout=_START_TIMEOUT_S))
    except TimedOut:
        seen = await context.observe(0)
        if not seen.agent:
            title = f"{session.agent} did not come up again"
            await safe_actions.notify_person(context, title, f"Look at pane {seen.pane}.")
            return f"{session.agent} did not start again; it is not retried"
        return f"{seen.agent} is running again; it has not reported whether with session {session.session}"
    return f"{session.agent} is running again with session {session.session}"


async def _verify_new_window(context: Context, session: SessionRecord) -> str:
    """Verify that the agent starts with this session in the new window, which is another pane."""
    for _ in range(_START_CHECKS):
        await context.sleep(_START_CHECK_INTERVAL_S)
        latest = await context.last_session(session=session.session, anywhere=True)
        if latest.id != session.id and not latest.is_over:
            return f"{session.agent} is running again with session {session.session}, in pane {latest.pane}"
        if latest.id != session.id:
            break  # it started and exited again
    text = f"Where it failed, its window stays and shows why. `visor revive {session.id}` tries it."
    await safe_actions.notify_person(context, f"{session.agent} was not seen to come up again", text)
    return f"{session.agent} was started in a new window but did not report session {session.session}"


async def _report_crash_loop(context: Context, session: SessionRecord, crashes: int) -> str:
    minutes = CRASH_WINDOW_S / 60
    text = f"{crashes} crashes within {minutes:.0f} minutes: it is not started again. `visor revive {session.id}` does."
    await safe_actions.notify_person(context, f"{session.agent} crashes again and again", text)
    return text


WORKFLOW = Workflow(
    name="restart_crashed",
    summary="Resume the session of an agent that crashed, in the same pane or in a new window.",
    trigger=Trigger(events=(CRASH_EVENT,), fresh_for=300.0),
    outlives_agent=True,
    run=run,
    steps=(
        "stop and notify a person at the third crash within 10 minutes",
        "check whether the shell is at its prompt and nothing else runs",
        "type the agent's own resume command there, or else start it in a new window",
        "verify that it starts with that session",
    ),
)
