"""Find on an agent's screen the proof that it took a submitted text: a turn that began, or the text outside its input.

An input that merely emptied proves nothing: an agent may drop a text, or clear its input for another reason. Pure.
"""

from typing import Literal

from termvisor.actions import input_line
from termvisor.agents.adapters.adapter import ScreenReading
from termvisor.backends.pane_control import PaneState

ShownProof = Literal["turn_started", "in_conversation", "queued"]


def find_shown_proof(
    text: str, before: tuple[PaneState, ScreenReading], after: tuple[PaneState, ScreenReading]
) -> ShownProof | None:
    """Return what the screen after Enter proves, compared with the one before typing; None if it proves nothing.

    The input must be empty on both, so that the text on the screen is in the conversation or in the agent's queue.
    """
    (old_state, old_reading), (new_state, new_reading) = before, after
    was_working = old_reading.state == "running"
    if _is_shown_anew(text, old_state, new_state, is_at_rest=not was_working):
        return "queued" if was_working else "in_conversation"
    return "turn_started" if new_reading.state == "running" and not was_working else None


def _is_shown_anew(text: str, before: PaneState, after: PaneState, *, is_at_rest: bool) -> bool:
    """Return True if the screen shows the text once more than before, or nearer to its end.

    The same text may have scrolled off while it appeared below. Then less follows it than before, if the agent was
    at rest and has not answered yet.
    """
    start = input_line.find_shown_start(text)
    old, new = (input_line.strip_decoration("\n".join(input_line.read_plain_rows(one))) for one in (before, after))
    if not start or start not in new:
        return False
    is_nearer = len(new) - new.rfind(start) < len(old) - old.rfind(start)
    return new.count(start) > old.count(start) or (is_at_rest and is_nearer)
