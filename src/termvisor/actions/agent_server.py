"""Send a prompt or an interrupt by an agent's server, and report whether the server confirmed it."""

from termvisor.actions.text_typer import StepRecorder, TypingResult
from termvisor.agents.adapters.server_contract import SessionControl
from termvisor.errors import BadRequest, TimedOut, Unavailable
from termvisor.model.action.outcome import Outcome
from termvisor.model.ids import PaneId

_NO_ANSWER_TEXT = "the agent's server did not confirm it"


async def send_prompt(
    session_control: SessionControl, text: str, title: str, record_step: StepRecorder
) -> TypingResult:
    """Start a turn with this prompt in the session that the pane with this title shows.

    Never retried: without a confirmation the prompt may have arrived.
    """
    await record_step("submitting")
    try:
        has_started = await session_control.send_prompt(text, title)
    except BadRequest as error:
        return TypingResult("refused", "server_refused", f"the agent's server rejected it: {error.message}")
    except (TimedOut, Unavailable) as error:
        return TypingResult("unknown", "no_answer", f"{_NO_ANSWER_TEXT}: {error.message}")
    if not has_started:
        return TypingResult("unknown", "not_confirmed", "the agent's server reported no new turn")
    return TypingResult("delivered", "turn_started", channel="native")


async def send_interrupt(session_control: SessionControl, pane: PaneId) -> Outcome | None:
    """Stop the current turn; return None if there is no turn that the server can stop."""
    try:
        has_stopped = await session_control.stop_turn()
    except (TimedOut, Unavailable) as error:
        return Outcome(status="unknown", why="no_answer", text=f"{_NO_ANSWER_TEXT}: {error.message}", pane=pane)
    if has_stopped is None:
        return None
    if has_stopped:
        return Outcome(status="done", why="interrupted", pane=pane, channel="native")
    text = "the agent was asked to stop but is still working"
    return Outcome(status="unknown", why="still_at_work", text=text, pane=pane)
