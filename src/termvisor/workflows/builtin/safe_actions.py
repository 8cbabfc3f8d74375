"""How built-in workflows act on somebody's pane: they look first, try little, and step back for people."""

from collections.abc import Awaitable, Callable

from termvisor.errors import NotDone, TimedOut
from termvisor.model.action.action import Action
from termvisor.model.agent.state import StateName
from termvisor.workflows.calls import ActionStepResult, PaneRequest, RetryPolicy
from termvisor.workflows.context import Context, StepBack

PaneCheck = Callable[[Context], Awaitable[object]]
"""Looks whether it may still be done; raises ``StepBack`` where not."""
PERSON_IN_PANE_REASONS = frozenset({"human_typing", "composer_not_empty", "input_not_empty", "copy_mode", "reserved"})
"""Reasons against an act that say: a person has the pane."""
TRANSIENT_REASONS = frozenset({"mux_error", "rate", "recent_gap", "stale_snapshot"})
"""Those that pass by themselves."""
OTHER_PROGRAM_REASONS = frozenset({"unknown_screen", "alternate_screen", "no_agent", "other_agent"})
"""Those that say: something else has the screen."""
UNCERTAIN_STATUSES = ("unknown", "typed_not_submitted")
"""Of a deed: it may or may not have arrived."""
STOPPED_STATES: tuple[StateName, ...] = ("idle", "completed", "error", "waiting_input", "waiting_approval")
_RETRY_DELAYS_S = (2.0, 5.0, 15.0)


async def act_safely(
    context: Context, request: Action | PaneRequest, check: PaneCheck, *, transient: frozenset[str] = TRANSIENT_REASONS
) -> ActionStepResult:
    """Once the check says yes, and anew where it could not be done right now. For a person it steps back at once."""
    for delay in (*_RETRY_DELAYS_S, None):
        await check(context)
        try:
            return await context.act(request, RetryPolicy(times=1))
        except NotDone as error:
            if error.why in PERSON_IN_PANE_REASONS:
                raise StepBack(f"a person has the pane: {error.message}") from error
            if error.why in OTHER_PROGRAM_REASONS - transient:
                raise StepBack(f"another program has the screen: {error.message}") from error
            if error.why not in transient or delay is None:
                raise
        await context.sleep(delay)
    raise StepBack("it could not be done")


async def wait_until_stopped(context: Context, timeout: float) -> bool:
    """Whether the agent stops within that time: what it tells of itself may come a moment before it does."""
    try:
        await context.wait_state(*STOPPED_STATES, timeout=timeout)
    except TimedOut:
        return False
    return True


def require_certain(result: ActionStepResult) -> None:
    """What may or may not have arrived ends the run: nothing may build on it, and it is never sent again."""
    if result.status in UNCERTAIN_STATUSES:
        details = {"status": "failed", "why": result.status}
        told = f": {result.text}" if result.text else ""
        raise NotDone(f"it is not known whether it was taken ({result.why}){told}; look at the pane", details=details)
