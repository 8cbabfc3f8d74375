"""An agent needs a login: the person gets the address and the code, and the pane is watched until it goes on.

Nothing is ever typed here: a login is a person's. What the agent shows is told; whether it worked is seen at the agent.
"""

from termvisor.errors import NotDone, TimedOut
from termvisor.model.agent.state import StateName
from termvisor.workflows.builtin import safe_actions
from termvisor.workflows.calls import Observation, PauseCall, RecallResult, WaitFor
from termvisor.workflows.context import Context, StepBack
from termvisor.workflows.workflow import Trigger, Workflow

CODE_EVENT = "auth.device_code"
CODE_LIFETIME_S = 900.0
"""Seconds for which a code is good, by what agents say of theirs."""
_MAX_URL_CHARS = 400
"""Signs at which captures are cut."""
_SHORT_WAIT_S = 20.0
_LOGIN_TIMEOUT_S = 60.0
_WORKING_STATES: tuple[StateName, ...] = ("running", "completed", "idle")


async def run(context: Context) -> str:
    seen = await context.observe()
    if not seen.agent:
        raise StepBack("the agent has left the pane")
    held = await context.still()
    if not seen.auth_needed and not held.is_so:
        return "nothing asks for a login any more"
    if not context.facts.get("code") and (url := str(context.facts.get("url") or "")):
        return await _leave_to_person(context, seen, _describe_address(url))
    told = await _wait_for_code(context)
    if told is not None and "code" not in context.facts and context.run.event is not None:
        return "the agent shows a code by now, which is told by a run of its own"
    if told is None:
        return await _leave_to_person(context, seen, "it shows no code")
    return await _ask_for_login(context, seen, told)


async def _wait_for_code(context: Context) -> RecallResult | None:
    """What it shows; a code that is not there yet is waited for, twice."""
    for _ in range(2):
        told = await context.recall(CODE_EVENT, CODE_LIFETIME_S)
        if told.find_capture("code"):
            return told
        try:
            await context.wait_for(WaitFor(rule=CODE_EVENT, timeout=_SHORT_WAIT_S))
        except TimedOut:
            await context.note("no code is shown yet")
    told = await context.recall(CODE_EVENT, CODE_LIFETIME_S)
    return told if told.find_capture("code") else None


def _describe_address(url: str) -> str:
    """What to do with an address alone; what was cut is of no use to anybody."""
    where = url if len(url) < _MAX_URL_CHARS else "the address that it shows"
    return f"open {where}, and enter in the pane what you are told there"


async def _ask_for_login(context: Context, seen: Observation, told: RecallResult) -> str:
    code, url = told.find_capture("code"), told.find_capture("url")
    where = f"open {url}" if url else "open the address that it shows"
    words = f"{seen.agent} in pane {seen.pane} needs a login: {where} and enter the code {code}"
    await _notify_person(context, f"{seen.agent} needs a login", words)
    over = WaitFor(cleared="auth_needed") if seen.auth_needed else WaitFor(gone=code)
    said = await context.ask_person(f"{words}. Is it done?", ("done", "stop"), CODE_LIFETIME_S, unless=over)
    if said.choice == "stop":
        raise StepBack("a person sees to the login")
    if said.choice == "done":
        try:
            await context.wait_for(WaitFor(cleared=over.cleared, gone=over.gone, timeout=_LOGIN_TIMEOUT_S))
        except TimedOut:
            return await _leave_to_person(context, seen, "it still asks for a login")
    elif said.why != "needless":
        return await _leave_to_person(context, seen, "nobody answered while the code was good")
    return await _verify_login(context)


async def _leave_to_person(context: Context, seen: Observation, why: str) -> str:
    plan = (
        f"{seen.agent} in pane {seen.pane} needs a login: {why}. Log in there (`visor attach {seen.pane}`); the run"
        f" ends by itself once the agent goes on, and `visor workflow resume {context.run.id}` has it look again."
    )
    await _notify_person(context, f"{seen.agent} needs a login", plan)
    left = await _wait_until_stopped(context, seen)
    unless = tuple(state for state in _WORKING_STATES if state != left.state)
    await context.pause_until_changed(PauseCall(plan=plan, runtime=seen.runtime, unless=unless))
    return await _verify_login(context)


async def _wait_until_stopped(context: Context, seen: Observation) -> Observation:
    """The agent as it is left: one that told of its login before it stopped does not go on by stopping."""
    if seen.state != "running":
        return seen
    if not await safe_actions.wait_until_stopped(context, _SHORT_WAIT_S):
        await context.note("the agent works on")
    return await context.observe(0)


async def _verify_login(context: Context) -> str:
    """An agent that goes on is known to be logged in once it is answered."""
    if not (await context.observe(0)).agent:
        raise StepBack("the agent has left the pane")
    try:
        await context.wait_for(WaitFor(cleared="auth_needed", timeout=_LOGIN_TIMEOUT_S))
    except TimedOut:
        await context.note("it still asks for a login")
    seen = await context.observe(0)
    if not seen.agent:
        raise StepBack("the agent has left the pane")
    return f"{seen.agent} still needs a login" if seen.auth_needed else f"{seen.agent} is logged in, and {seen.state}"


async def _notify_person(context: Context, title: str, text: str) -> None:
    """A way that does not work is no reason to stop: the question stands in the inbox all the same."""
    try:
        await context.notify(title, text)
    except NotDone as error:
        await context.note(f"nobody was told: {error.message}")


WORKFLOW = Workflow(
    name="handle_auth_required",
    summary="Show the person the address and the code of a login that an agent needs, and see whether it worked.",
    trigger=Trigger(events=("auth.required", CODE_EVENT)),
    takes_pane=False,
    run=run,
    steps=(
        "look whether the agent still needs a login",
        "find the code that it shows; wait for it twice, else pause with a plan",
        "tell the person: a notification, and a question in the inbox",
        "watch the pane until the agent is logged in; nothing is typed",
    ),
)
