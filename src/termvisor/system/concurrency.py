"""Run coroutines at the same time and wait for all of them."""

import asyncio
from collections.abc import Coroutine, Iterable


async def run_concurrently(calls: Iterable[Coroutine[None, None, None]]) -> None:
    """Wait until all calls have returned. If one raises, cancel the others and raise an exception group."""
    async with asyncio.TaskGroup() as group:
        for call in calls:
            group.create_task(call)
