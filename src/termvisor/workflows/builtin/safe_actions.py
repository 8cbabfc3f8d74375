"""How built-in workflows act on somebody's pane: they look first, try little, and step back for people."""

from collections.abc import Awaitable, Callable

from termvisor.errors import NotDone, TimedOut
from termvisor.model.action.action import Action
from termvisor.model.agent.state import StateName
from termvisor.workflows.calls import Deed, Retry, Wish
from termvisor.workflows.context import Context, StepBack

Check = Callable[[Context], Awaitable[object]]
"""Looks whether it may still be done; raises ``StepBack`` where not."""
PERSONAL = frozenset({"human_typing", "composer_not_empty", "input_not_empty", "copy_mode", "reserved"})
"""Reasons against an act that say: a person has the pane."""
PASSING = frozenset({"mux_error", "rate", "recent_gap", "stale_snapshot"})
"""Those that pass by themselves."""
FOREIGN = frozenset({"unknown_screen", "alternate_screen", "no_agent", "other_agent"})
"""Those that say: something else has the screen."""
UNSURE = ("unknown", "typed_not_submitted")
"""Of a deed: it may or may not have arrived."""
STOPPED: tuple[StateName, ...] = ("idle", "completed", "error", "waiting_input", "waiting_approval")
_DELAYS = (2.0, 5.0, 15.0)


async def act(context: Context, what: Action | Wish, check: Check, *, passing: frozenset[str] = PASSING) -> Deed:
    """Once the check says yes, and anew where it could not be done right now. For a person it steps back at once."""
    for delay in (*_DELAYS, None):
        await check(context)
        try:
            return await context.act(what, Retry(times=1))
        except NotDone as error:
            if error.why in PERSONAL:
                raise StepBack(f"a person has the pane: {error.message}") from error
            if error.why in FOREIGN - passing:
                raise StepBack(f"another program has the screen: {error.message}") from error
            if error.why not in passing or delay is None:
                raise
        await context.sleep(delay)
    raise StepBack("it could not be done")


async def stops(context: Context, seconds: float) -> bool:
    """Whether the agent stops within that time: what it tells of itself may come a moment before it does."""
    try:
        await context.wait_state(*STOPPED, timeout=seconds)
    except TimedOut:
        return False
    return True


def sure(deed: Deed) -> None:
    """What may or may not have arrived ends the run: nothing may build on it, and it is never sent again."""
    if deed.status in UNSURE:
        details = {"status": "failed", "why": deed.status}
        told = f": {deed.text}" if deed.text else ""
        raise NotDone(f"it is not known whether it was taken ({deed.why}){told}; look at the pane", details=details)
