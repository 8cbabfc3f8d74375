"""Decide whether a job waits for input, from what is known about its terminal. Pure.

`unknown` is never waiting: without proof, a job counts as running.
"""

from msgspec import Struct

from termvisor.model.job import WaitEvidence
from termvisor.system.terminal_wait import TerminalWait

SETTLE_S = 0.15
"""Seconds without output before a program counts as waiting: it may be in the middle of its prompt."""


class JobObservation(Struct, frozen=True, kw_only=True):
    """The terminal of a job at one moment.

    ``quiet_s`` are the seconds since its last output, ``idle_s`` those since its last output or use of the CPU.
    """

    wait: TerminalWait
    quiet_s: float
    idle_s: float = 0.0
    has_prompt: bool = False
    """A detector matches the unfinished last line."""
    quiet_after: float = 0.0


def find_wait_evidence(seen: JobObservation) -> WaitEvidence | None:
    """Return why the job waits for input; None if it does not, or if that is not known."""
    wait = seen.wait
    if seen.quiet_s < SETTLE_S:
        return None
    if wait.level == "reads" and wait.unread == 0:
        return "secret_prompt" if wait.asks_secret else "reads_terminal"
    # Also for programs of another user, such as sudo, whose system calls are hidden.
    if wait.level != "no" and wait.asks_secret and wait.is_asleep and wait.unread == 0:
        return "secret_prompt"
    if seen.has_prompt and wait.unread == 0 and (wait.level == "polls" or (wait.level == "unknown" and wait.is_asleep)):
        return "detector"
    if seen.quiet_after and wait.is_asleep and seen.idle_s >= seen.quiet_after:
        return "quiet"
    return None
