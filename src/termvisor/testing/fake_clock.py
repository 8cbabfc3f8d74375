"""A fake clock for unit tests, and a function that lets all tasks run."""

import asyncio

from termvisor.clock import NS

NOON = 1_767_268_800 * NS
"""2026-01-01T12:00:00Z, the start time of every test."""


class FakeClock:
    """A clock that moves only when a test calls `advance`, which wakes the tasks whose sleep has ended."""

    def __init__(self, at: int = NOON):
        self._now_ns, self._started_ns = at, at
        self._sleepers: list[tuple[int, asyncio.Event]] = []
        self._asleep = asyncio.Event()

    def now(self) -> int:
        return self._now_ns

    def monotonic(self) -> float:
        return (self._now_ns - self._started_ns) / NS

    async def sleep(self, seconds: float) -> None:
        sleeper = (self._now_ns + int(seconds * NS), asyncio.Event())
        self._sleepers.append(sleeper)
        # Wakes `wait_until_asleep`, so that a test advances the clock only once the code under test sleeps.
        self._asleep.set()
        try:
            await sleeper[1].wait()
        finally:
            # Even if the task was cancelled: a removed sleeper must not be waited for.
            self._sleepers.remove(sleeper)

    async def wait_until_asleep(self) -> None:
        """Wait until a task is sleeping."""
        while not self._sleepers:
            self._asleep.clear()
            await self._asleep.wait()

    async def advance(self, seconds: float) -> None:
        self._now_ns += int(seconds * NS)
        for due_at, wake_event in self._sleepers:
            if due_at <= self._now_ns:
                wake_event.set()
        await let_tasks_run()


async def let_tasks_run() -> None:
    """Let every task run until it waits for something."""
    # In a chain of tasks that wake each other, each needs one iteration of the event loop.
    for _ in range(20):
        await asyncio.sleep(0)
