"""A run that takes the daemon with it: work that never gives way, or ends the process, would do so in every daemon.

Between two steps a workflow only thinks, and that takes no time. A daemon that ends again and again while a run thinks
at the same place was ended by that run, or by a person because of it.
"""

from collections.abc import Sequence

from termvisor.model.workflow.run import Run, RunSignal, RunStep
from termvisor.workflows.engine.services import RunJournal

MAX_DAEMON_CRASHES = 3
"""Daemons that may end at the same place of a run; kills by chance do not meet it so often."""
CRASH_LOOP_REASON = (
    f"{MAX_DAEMON_CRASHES} daemons ended while it was between the same two steps; `visor logs` may say why"
)
_SIGNAL_SENDER, _SIGNAL_WORD = "daemon", "daemon_ended"


async def is_crash_looping(journal: RunJournal, run: Run, steps: Sequence[RunStep], now: int) -> bool:
    """Asked once by every daemon that takes it up; what it met so far is on record."""
    if run.status != "running" or (steps and steps[-1].ended_at is None):
        return False
    place = str(len(steps))
    await journal.add_signal(RunSignal(run=run.id, at=now, word=_SIGNAL_WORD, value=place, by=_SIGNAL_SENDER))
    told = ((one.by, one.word, one.value) for one in await journal.list_signals(run.id))
    return sum(one == (_SIGNAL_SENDER, _SIGNAL_WORD, place) for one in told) >= MAX_DAEMON_CRASHES
