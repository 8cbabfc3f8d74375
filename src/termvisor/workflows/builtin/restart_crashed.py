"""An agent ended without a goodbye: its conversation is taken up again.

That is done in the same pane where its shell is seen to be at its prompt. Where that is not sure, a new window beside
it is opened, and the pane is left as it is: an agent that was killed leaves its full screen behind, or the shell tells
nothing of its prompts. A crash that follows a restart is a loop soon: the third within ten minutes is told to the
person, and nothing is done.
"""

import shlex

from termvisor.errors import NotDone, TimedOut
from termvisor.workflows.calls import Observation, SessionRecord, SpawnRequest, WaitFor
from termvisor.workflows.context import Context, StepBack
from termvisor.workflows.workflow import Trigger, Workflow

CRASH_EVENT = "agent.crashed"
MAX_CRASHES = 3
"""Crashes within the time below with which it is over."""
CRASH_WINDOW_S = 600.0
_PROMPT_TIMEOUT_S = 10.0
_START_CHECKS, _START_CHECK_INTERVAL_S = 12, 5.0
_START_TIMEOUT_S = 60.0
_DECLINED_REASONS = {"denied": "a person said no", "expired": "nobody answered in time"}


async def run(context: Context) -> str:
    session = await context.last_session(context.run.runtime)
    if not session.resume:
        raise StepBack("nothing takes its conversation up again: the agent told no session")
    crashes = len((await context.recall(CRASH_EVENT, CRASH_WINDOW_S)).found)
    if crashes >= MAX_CRASHES:
        return await _report_crash_loop(context, session, crashes)
    seen = await _wait_for_prompt(context)
    if seen.agent:
        raise StepBack(f"{seen.agent} is in the pane again")
    why = str(context.facts.get("why") or "it ended without a goodbye")
    await context.note(f"{session.agent} is gone from pane {seen.pane}: {why}")
    is_free = seen.activity == "prompt" and not seen.is_alternate
    try:
        if is_free:
            deed = await context.send(build_resume_command(session, seen))
        else:
            beside = SpawnRequest(command=session.resume, cwd=session.cwd, name=session.agent, keeps_failure=True)
            deed = await context.act(beside)
    except NotDone as error:
        raise StepBack(_DECLINED_REASONS.get(error.why, error.message)) from error
    if deed.status == "unknown":
        await context.note(f"it is not known whether it was started ({deed.why}): only what is seen counts")
    return await _verify_restart(context, session) if is_free else await _verify_new_window(context, session)


async def _wait_for_prompt(context: Context) -> Observation:
    """The pane, once its shell is at its prompt or had time for it."""
    try:
        await context.wait_for(WaitFor(prompt=True, timeout=_PROMPT_TIMEOUT_S))
    except TimedOut:
        await context.note("the pane shows no shell's prompt")
    return await context.observe(0)


def build_resume_command(session: SessionRecord, observation: Observation) -> str:
    """What is typed at the shell's prompt; a conversation is found only in the folder in which it began."""
    resume = shlex.join(session.resume)
    is_there = not session.cwd or session.cwd == observation.cwd
    return resume if is_there else f"cd {shlex.quote(session.cwd)} && {resume}"


async def _verify_restart(context: Context, session: SessionRecord) -> str:
    """It is seen to come up with this very conversation; what does not is told, and not tried again."""
    try:
        await context.wait_for(WaitFor(session=session.session, timeout=_START_TIMEOUT_S))
    except TimedOut:
        seen = await context.observe(0)
        if not seen.agent:
            await _notify_person(context, f"{session.agent} did not come up again", f"Look at pane {seen.pane}.")
            return f"{session.agent} did not come up again; it is not tried once more"
        return f"{seen.agent} is up again; whether with session {session.session} it has not said"
    return f"{session.agent} is up again with session {session.session}"


async def _verify_new_window(context: Context, session: SessionRecord) -> str:
    """In the new window, which has a pane of its own."""
    for _ in range(_START_CHECKS):
        await context.sleep(_START_CHECK_INTERVAL_S)
        now = await context.last_session(session=session.session, anywhere=True)
        if now.id != session.id and not now.is_over:
            return f"{session.agent} is up again with session {session.session}, in pane {now.pane}"
        if now.id != session.id:
            break  # it came, and ended again
    text = f"Where it failed, its window stays and shows why. `visor revive {session.id}` tries it."
    await _notify_person(context, f"{session.agent} was not seen to come up again", text)
    return f"{session.agent} was to start in a new window, and was not seen to come up with session {session.session}"


async def _report_crash_loop(context: Context, session: SessionRecord, crashes: int) -> str:
    minutes = CRASH_WINDOW_S / 60
    text = f"{crashes} crashes within {minutes:.0f} minutes: it is not started again. `visor revive {session.id}` does."
    await _notify_person(context, f"{session.agent} crashes again and again", text)
    return text


async def _notify_person(context: Context, title: str, text: str) -> None:
    try:
        await context.notify(title, text)
    except NotDone as error:
        await context.note(f"nobody was told: {error.message}")


WORKFLOW = Workflow(
    name="restart_crashed",
    summary="Take the conversation of an agent that crashed up again, in the same pane or beside it.",
    trigger=Trigger(events=(CRASH_EVENT,), fresh_for=300.0),
    outlives_agent=True,
    run=run,
    steps=(
        "stop and tell the person at the third crash within 10 minutes",
        "look whether the shell is at its prompt and nothing else runs",
        "type the agent's own resume command there, or else start it in a new window beside it",
        "see that it comes up with that session",
    ),
)
