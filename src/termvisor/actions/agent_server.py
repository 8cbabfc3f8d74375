"""What an agent is told by its own server instead of by its keyboard, and how it is known that it heard."""

from termvisor.actions.text_typer import StepRecorder, TypingResult
from termvisor.agents.adapters.server_contract import SessionControl
from termvisor.errors import BadRequest, TimedOut, Unavailable
from termvisor.model.action.outcome import Outcome
from termvisor.model.ids import PaneId

_NO_ANSWER_TEXT = "the agent's server did not say whether it heard"


async def send_prompt(
    session_control: SessionControl, text: str, title: str, record_step: StepRecorder
) -> TypingResult:
    """A turn that begins with these words, in the pane with this title.

    Never tried again: who hears nothing of it does not know.
    """
    await record_step("submitting")
    try:
        has_begun = await session_control.send_prompt(text, title)
    except BadRequest as error:
        return TypingResult("refused", "server_refused", f"its server refused it: {error.message}")
    except (TimedOut, Unavailable) as error:
        return TypingResult("unknown", "no_answer", f"{_NO_ANSWER_TEXT}: {error.message}")
    if not has_begun:
        return TypingResult("unknown", "not_confirmed", "its server named no turn")
    return TypingResult("delivered", "turn_started", channel="native")


async def send_interrupt(session_control: SessionControl, pane: PaneId) -> Outcome | None:
    """None where it is at nothing that could be interrupted so."""
    try:
        has_stopped = await session_control.stop_turn()
    except (TimedOut, Unavailable) as error:
        return Outcome(status="unknown", why="no_answer", text=f"{_NO_ANSWER_TEXT}: {error.message}", pane=pane)
    if has_stopped is None:
        return None
    if has_stopped:
        return Outcome(status="done", why="interrupted", pane=pane, channel="native")
    return Outcome(status="unknown", why="still_at_work", text="it was told to stop and goes on", pane=pane)
