"""Detect a run that crashes or blocks the daemon, so that it is not resumed again and again.

Code between two steps takes no time. If several daemons ended while a run was between the same two steps, the run ended
them, or a person did because it blocked them.
"""

from collections.abc import Sequence

from termvisor.model.workflow.run import Run, RunSignal, RunStep
from termvisor.workflows.engine.services import RunJournal

MAX_DAEMON_CRASHES = 3
"""Daemons that may end between the same two steps; unrelated kills do not hit the same place so often."""
CRASH_LOOP_REASON = f"{MAX_DAEMON_CRASHES} daemons ended while the run was between the same two steps; see `visor logs`"
_SIGNAL_SENDER, _SIGNAL_WORD = "daemon", "daemon_ended"


async def is_crash_looping(journal: RunJournal, run: Run, steps: Sequence[RunStep], now: int) -> bool:
    """Return True if too many daemons ended here; call it once per daemon, since each call counts as one."""
    if run.status != "running" or (steps and steps[-1].ended_at is None):
        return False
    place = str(len(steps))
    await journal.add_signal(RunSignal(run=run.id, at=now, word=_SIGNAL_WORD, value=place, by=_SIGNAL_SENDER))
    signals = ((signal.by, signal.word, signal.value) for signal in await journal.list_signals(run.id))
    return sum(signal == (_SIGNAL_SENDER, _SIGNAL_WORD, place) for signal in signals) >= MAX_DAEMON_CRASHES
