"""Two ways to an answer: the first one counts, the other is given up."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from termvisor.errors import VisorError

T = TypeVar("T")


async def race(*awaitables: Awaitable[T]) -> T:
    """What the first of them gives or raises; all are over when it returns."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_capture_error(way)) for way in awaitables]
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
    value, error = next(task for task in tasks if task in done).result()
    if error is not None:
        raise error
    return value[0]


async def _capture_error(awaitable: Awaitable[T]) -> tuple[tuple[T, ...], VisorError | None]:
    """A group would wrap what its tasks raise."""
    try:
        return (await awaitable,), None
    except VisorError as error:
        return (), error
