"""What an agent is told by its own server instead of by its keyboard, and how it is known that it heard."""

from termvisor.actions.typing import Ended, Step
from termvisor.agents.adapters.server_contract import Line
from termvisor.errors import BadRequest, TimedOut, Unavailable
from termvisor.model.action.outcome import Outcome
from termvisor.model.ids import PaneId

_SILENT = "the agent's server did not say whether it heard"


async def prompted(line: Line, words: str, title: str, step: Step) -> Ended:
    """A turn that begins with these words, in the pane with this title.

    Never tried again: who hears nothing of it does not know.
    """
    await step("submitting")
    try:
        has_begun = await line.prompt(words, title)
    except BadRequest as error:
        return Ended("refused", "server_refused", f"its server refused it: {error.message}")
    except (TimedOut, Unavailable) as error:
        return Ended("unknown", "no_answer", f"{_SILENT}: {error.message}")
    if not has_begun:
        return Ended("unknown", "not_confirmed", "its server named no turn")
    return Ended("delivered", "turn_started", channel="native")


async def interrupted(line: Line, pane: PaneId) -> Outcome | None:
    """None where it is at nothing that could be interrupted so."""
    try:
        has_stopped = await line.stop()
    except (TimedOut, Unavailable) as error:
        return Outcome(status="unknown", why="no_answer", text=f"{_SILENT}: {error.message}", pane=pane)
    if has_stopped is None:
        return None
    if has_stopped:
        return Outcome(status="done", why="interrupted", pane=pane, channel="native")
    return Outcome(status="unknown", why="still_at_work", text="it was told to stop and goes on", pane=pane)
