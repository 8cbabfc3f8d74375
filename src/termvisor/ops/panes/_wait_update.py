"""Waiting for news or for time to pass, whichever comes first."""

import asyncio
from typing import Any

from termvisor.bus import Subscription
from termvisor.clock import Clock


async def wait_for_update(clock: Clock, timeout: float, *subscriptions: Subscription[Any]) -> list[Any]:
    """The news that came first, or nothing when the time was up.

    News that arrives in the same moment may be dropped, so a caller looks at the facts again, never at the news alone.
    """
    async with asyncio.TaskGroup() as group:
        nap = group.create_task(clock.sleep(timeout))
        waits = [group.create_task(source.get()) for source in subscriptions]
        done, _ = await asyncio.wait([nap, *waits], return_when=asyncio.FIRST_COMPLETED)
        for task in (nap, *waits):
            task.cancel()
    return [task.result() for task in waits if task in done]
