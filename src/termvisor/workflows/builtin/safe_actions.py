"""Steps shared by built-in workflows: act only after a check, retry a few times, and step back for people."""

from collections.abc import Awaitable, Callable

from termvisor.errors import NotDone, TimedOut
from termvisor.model.action.action import Action
from termvisor.model.agent.state import StateName
from termvisor.workflows.calls import PaneRequest, RetryPolicy
from termvisor.workflows.context import Context, StepBack
from termvisor.workflows.results import ActionStepResult

PaneCheck = Callable[[Context], Awaitable[object]]
"""Check that raises ``StepBack`` if the action may no longer be executed."""
PERSON_IN_PANE_REASONS = frozenset({"human_typing", "composer_not_empty", "input_not_empty", "copy_mode", "reserved"})
"""Refusal reasons that mean that a person is using the pane."""
TRANSIENT_REASONS = frozenset({"mux_error", "rate", "recent_gap", "stale_snapshot"})
"""Refusal reasons that go away by themselves."""
OTHER_PROGRAM_REASONS = frozenset({"unknown_screen", "alternate_screen", "no_agent", "other_agent"})
"""Refusal reasons that mean that another program controls the screen."""
STOPPED_STATES: tuple[StateName, ...] = ("idle", "completed", "error", "waiting_input", "waiting_approval")
# Four attempts within half a minute.
_RETRY_DELAYS_S = (2.0, 5.0, 15.0)


async def act_safely(
    context: Context, request: Action | PaneRequest, check: PaneCheck, *, transient: frozenset[str] = TRANSIENT_REASONS
) -> ActionStepResult:
    """Execute the action after ``check``. Retry a few times, with a new check, after transient refusals.

    Raises ``StepBack`` at once if a person or another program has the pane, else ``NotDone``.
    """
    for delay in (*_RETRY_DELAYS_S, None):
        # Check before each attempt, because the pane may have changed since the last one was refused.
        await check(context)
        try:
            # The engine must not retry by itself, because it would skip the check.
            return await context.act(request, RetryPolicy(times=1))
        except NotDone as error:
            if error.why in PERSON_IN_PANE_REASONS:
                raise StepBack(f"a person uses the pane: {error.message}") from error
            if error.why in OTHER_PROGRAM_REASONS - transient:
                raise StepBack(f"another program has the screen: {error.message}") from error
            if error.why not in transient or delay is None:
                raise
        await context.sleep(delay)
    raise StepBack("the action could not be executed")


async def wait_until_stopped(context: Context, timeout: float) -> bool:
    """Return True if the agent stops within ``timeout`` seconds. Some events are reported just before it stops."""
    try:
        await context.wait_state(*STOPPED_STATES, timeout=timeout)
    except TimedOut:
        return False
    return True


async def notify_person(context: Context, title: str, text: str) -> None:
    """Send a notification. A failure is only noted, because the inbox and the plan show the same."""
    try:
        await context.notify(title, text)
    except NotDone as error:
        await context.note(f"nobody was told: {error.message}")
