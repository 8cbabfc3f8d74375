"""Await several alternatives, take the first result, and cancel the others."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from termvisor.errors import VisorError

T = TypeVar("T")


async def race(*awaitables: Awaitable[T]) -> T:
    """Return or raise what the first of them does; all have ended when this returns."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_capture_error(awaitable)) for awaitable in awaitables]
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
    value, error = next(task for task in tasks if task in done).result()
    if error is not None:
        raise error
    return value[0]


async def _capture_error(awaitable: Awaitable[T]) -> tuple[tuple[T, ...], VisorError | None]:
    # Returned, not raised: a TaskGroup would wrap the error in an ExceptionGroup.
    try:
        return (await awaitable,), None
    except VisorError as error:
        return (), error
