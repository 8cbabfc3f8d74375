"""A run that takes the daemon with it: work that never gives way, or ends the process, would do so in every daemon.

Between two steps a workflow only thinks, and that takes no time. A daemon that ends again and again while a run thinks
at the same place was ended by that run, or by a person because of it.
"""

from collections.abc import Sequence

from termvisor.model.workflow.run import Run, RunSignal, Step
from termvisor.workflows.engine.services import Journal

MOST = 3
"""Daemons that may end at the same place of a run; kills by chance do not meet it so often."""
DEADLY = f"{MOST} daemons ended while it was between the same two steps; `visor logs` may say why"
_DAEMON, _WORD = "daemon", "daemon_ended"


async def is_deadly(journal: Journal, run: Run, steps: Sequence[Step], now: int) -> bool:
    """Asked once by every daemon that takes it up; what it met so far is on record."""
    if run.status != "running" or (steps and steps[-1].ended_at is None):
        return False
    place = str(len(steps))
    await journal.say(RunSignal(run=run.id, at=now, word=_WORD, value=place, by=_DAEMON))
    told = ((one.by, one.word, one.value) for one in await journal.signals(run.id))
    return sum(one == (_DAEMON, _WORD, place) for one in told) >= MOST
