"""Limit how many runs work at once, and how often one run may end the daemon.

Slots are given first come, first served; a run that waits for a person or a time has none.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

from termvisor.model.workflow import Run, RunSignal, RunStep
from termvisor.workflows.engine.services import RunStore

MAX_DAEMON_CRASHES = 3
"""Daemons that may end between the same two steps; unrelated kills do not hit the same place so often."""
CRASH_LOOP_REASON = f"{MAX_DAEMON_CRASHES} daemons ended while the run was between the same two steps; see `visor logs`"
_SIGNAL_SENDER, _SIGNAL_WORD = "daemon", "daemon_ended"


class RunSlots:
    def __init__(self, get_limit: Callable[[], int]):
        self._get_limit = get_limit
        self.in_use = 0
        # asyncio.Semaphore has a fixed limit; this one follows the setting while the daemon runs.
        self._waiters: deque[asyncio.Future[None]] = deque()

    async def acquire(self) -> None:
        """Wait for a free slot, in the order of the calls."""
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
        """Give the slot back and assign free slots to the waiters; the limit may have been raised since."""
        self.in_use -= 1
        while self._waiters and self.in_use < self._get_limit():
            waiter = self._waiters.popleft()
            # The task of a cancelled waiter has only not run since.
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
        """Acquire a slot even beyond the limit: a person has just approved an action that the run is executing."""
        if not self._is_acquired:
            self._is_acquired = True
            self._slots.in_use += 1


async def is_crash_looping(runs: RunStore, run: Run, steps: Sequence[RunStep], now: int) -> bool:
    """Return True if too many daemons ended here; call it once per daemon, since each call counts as one.

    Code between two steps takes no time. If several daemons ended while a run was between the same two steps, the run
    ended them, or a person did because it blocked them.
    """
    # Inside a step the daemon executes its own code, not that of the run.
    if run.status != "running" or (steps and steps[-1].ended_at is None):
        return False
    place = str(len(steps))
    # Stored before the run is started, because the run may end this daemon, too.
    await runs.add_signal(RunSignal(run=run.id, at=now, word=_SIGNAL_WORD, value=place, by=_SIGNAL_SENDER))
    signals = ((signal.by, signal.word, signal.value) for signal in await runs.list_signals(run.id))
    return sum(signal == (_SIGNAL_SENDER, _SIGNAL_WORD, place) for signal in signals) >= MAX_DAEMON_CRASHES
