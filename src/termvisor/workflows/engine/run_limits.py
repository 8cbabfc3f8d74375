"""Limit how many runs work at once, and how often one run may crash the daemon.

Slots are assigned first come, first served. A run that waits for a person or a time occupies none.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

from termvisor.model.workflow import Run, RunSignal, RunStep
from termvisor.workflows.engine.services import RunStore

MAX_DAEMON_CRASHES = 3
"""How many daemons may end between the same two steps. Unrelated kills rarely hit the same place so often."""
CRASH_LOOP_REASON = f"{MAX_DAEMON_CRASHES} daemons ended while the run was between the same two steps; see `visor logs`"
_SIGNAL_SENDER, _SIGNAL_WORD = "daemon", "daemon_ended"


class RunSlots:
    def __init__(self, get_limit: Callable[[], int]):
        self._get_limit = get_limit
        self.in_use = 0
        # asyncio.Semaphore has a fixed limit. This limit follows the setting while the daemon runs.
        self._waiters: deque[asyncio.Future[None]] = deque()

    async def acquire(self) -> None:
        """Wait for a free slot. Waiters are served in call order."""
        # A free slot goes to the first waiter, never to a later caller.
        if not self._waiters and self.in_use < self._get_limit():
            self.in_use += 1
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter in self._waiters:
                self._waiters.remove(waiter)
            elif not waiter.cancelled():
                self.release()  # the slot was assigned before the cancellation arrived
            raise

    def release(self) -> None:
        """Release the slot and assign free slots to waiters. The limit may have been raised meanwhile."""
        self.in_use -= 1
        while self._waiters and self.in_use < self._get_limit():
            waiter = self._waiters.popleft()
            # A cancelled waiter may still be queued, because its task has not run yet.
            if not waiter.done():
                self.in_use += 1
                waiter.set_result(None)


class RunSlot:
    """The slot of one run, acquired at most once."""

    def __init__(self, slots: RunSlots):
        self._slots, self._is_acquired = slots, False

    async def acquire(self) -> None:
        if not self._is_acquired:
            await self._slots.acquire()
            self._is_acquired = True

    def release(self) -> None:
        if self._is_acquired:
            self._is_acquired = False
            self._slots.release()

    def acquire_over_limit(self) -> None:
        """Acquire a slot even beyond the limit, because the run is executing an action that was just approved."""
        if not self._is_acquired:
            self._is_acquired = True
            self._slots.in_use += 1


async def is_crash_looping(runs: RunStore, run: Run, steps: Sequence[RunStep], now: int) -> bool:
    """Return True if too many daemons ended at this point. Each call counts, so call it once per daemon.

    Code between steps takes hardly any time. If several daemons ended while a run was between the same two, the run
    crashed them, or a person killed them because it blocked them.
    """
    # Within a step, the daemon executes its own code, not the workflow's.
    if run.status != "running" or (steps and steps[-1].ended_at is None):
        return False
    place = str(len(steps))
    # Store this before starting the run, because the run may crash this daemon too.
    await runs.add_signal(RunSignal(run=run.id, at=now, word=_SIGNAL_WORD, value=place, by=_SIGNAL_SENDER))
    signals = ((signal.by, signal.word, signal.value) for signal in await runs.list_signals(run.id))
    return sum(signal == (_SIGNAL_SENDER, _SIGNAL_WORD, place) for signal in signals) >= MAX_DAEMON_CRASHES
