"""Show a person the address and code for a login that an agent needs, and wait until the agent is logged in.

Nothing is typed: only a person can log in. The result is read from the agent's state.
"""

from termvisor.errors import TimedOut
from termvisor.model.agent.state import StateName
from termvisor.workflows.builtin import safe_actions
from termvisor.workflows.calls import PauseCall, WaitFor
from termvisor.workflows.context import Context, StepBack
from termvisor.workflows.results import Observation, RecallResult
from termvisor.workflows.workflow import Trigger, Workflow

CODE_EVENT = "auth.device_code"
CODE_LIFETIME_S = 900.0
"""Seconds for which a device code is valid, according to the agents."""
_MAX_URL_CHARS = 400
"""Length at which captures are truncated."""
_SHORT_WAIT_S = 20.0
_LOGIN_TIMEOUT_S = 60.0
_WORKING_STATES: tuple[StateName, ...] = ("running", "completed", "idle")


async def run(context: Context) -> str:
    seen = await context.observe()
    if not seen.agent:
        raise StepBack("the agent has exited")
    check = await context.still()
    if not seen.auth_needed and not check.is_so:
        return "no login is needed any more"
    if not context.facts.get("code") and (url := str(context.facts.get("url") or "")):
        return await _leave_to_person(context, seen, _describe_address(url))
    recalled = await _wait_for_code(context)
    # Detecting the code starts a separate run, and two runs would ask for the same login.
    if recalled is not None and "code" not in context.facts and context.run.event is not None:
        return "the agent shows a code now, which has a run of its own"
    if recalled is None:
        return await _leave_to_person(context, seen, "it shows no code")
    return await _ask_for_login(context, seen, recalled)


async def _wait_for_code(context: Context) -> RecallResult | None:
    """Return the detections with the login code, waiting for it up to twice; None if none appears."""
    for _ in range(2):
        recalled = await context.recall(CODE_EVENT, CODE_LIFETIME_S)
        if recalled.find_capture("code"):
            return recalled
        try:
            await context.wait_for(WaitFor(rule=CODE_EVENT, timeout=_SHORT_WAIT_S))
        except TimedOut:
            await context.note("no code is shown yet")
    recalled = await context.recall(CODE_EVENT, CODE_LIFETIME_S)
    return recalled if recalled.find_capture("code") else None


def _describe_address(url: str) -> str:
    """Return the instructions for an address. A truncated address is useless and left out."""
    where = url if len(url) < _MAX_URL_CHARS else "the address that it shows"
    return f"open {where}, and enter in the pane what you are told there"


async def _ask_for_login(context: Context, seen: Observation, recalled: RecallResult) -> str:
    code, url = recalled.find_capture("code"), recalled.find_capture("url")
    where = f"open {url}" if url else "open the address that it shows"
    text = f"{seen.agent} in pane {seen.pane} needs a login: {where} and enter the code {code}"
    await safe_actions.notify_person(context, f"{seen.agent} needs a login", text)
    # Agents without the flag remove the code from the screen once the login is complete.
    done = WaitFor(cleared="auth_needed") if seen.auth_needed else WaitFor(gone=code)
    answer = await context.ask_person(f"{text}. Is it done?", ("done", "stop"), CODE_LIFETIME_S, unless=done)
    if answer.choice == "stop":
        raise StepBack("a person takes care of the login")
    if answer.choice == "done":
        try:
            await context.wait_for(WaitFor(cleared=done.cleared, gone=done.gone, timeout=_LOGIN_TIMEOUT_S))
        except TimedOut:
            return await _leave_to_person(context, seen, "it still asks for a login")
    elif answer.why != "needless":
        return await _leave_to_person(context, seen, "nobody answered while the code was good")
    return await _verify_login(context)


async def _leave_to_person(context: Context, seen: Observation, why: str) -> str:
    plan = (
        f"{seen.agent} in pane {seen.pane} needs a login: {why}. Log in there (`visor attach {seen.pane}`); the run"
        f" ends by itself once the agent goes on, and `visor workflow resume {context.run.id}` has it look again."
    )
    await safe_actions.notify_person(context, f"{seen.agent} needs a login", plan)
    left = await _wait_until_stopped(context, seen)
    # The agent's current state would end the pause at once.
    unless = tuple(state for state in _WORKING_STATES if state != left.state)
    await context.pause_until_changed(PauseCall(plan=plan, runtime=seen.runtime, unless=unless))
    return await _verify_login(context)


async def _wait_until_stopped(context: Context, seen: Observation) -> Observation:
    # The agent may report the needed login before it stops. That stop must not end the following pause.
    if seen.state != "running":
        return seen
    if not await safe_actions.wait_until_stopped(context, _SHORT_WAIT_S):
        await context.note("the agent works on")
    return await context.observe(0)


async def _verify_login(context: Context) -> str:
    """Wait until the agent no longer reports that it needs a login, and describe its state."""
    if not (await context.observe(0)).agent:
        raise StepBack("the agent has exited")
    try:
        await context.wait_for(WaitFor(cleared="auth_needed", timeout=_LOGIN_TIMEOUT_S))
    except TimedOut:
        await context.note("it still asks for a login")
    seen = await context.observe(0)
    if not seen.agent:
        raise StepBack("the agent has exited")
    return f"{seen.agent} still needs a login" if seen.auth_needed else f"{seen.agent} is logged in, and {seen.state}"


WORKFLOW = Workflow(
    name="handle_auth_required",
    summary="Show a person the address and the code of a login that an agent needs, and wait until it is done.",
    trigger=Trigger(events=("auth.required", CODE_EVENT)),
    takes_pane=False,
    run=run,
    steps=(
        "check that the agent still needs a login",
        "find the code that it shows; wait for it twice, else pause with a plan",
        "notify the person and ask in the inbox",
        "wait until the agent is logged in; nothing is typed",
    ),
)
