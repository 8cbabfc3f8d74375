"""The first of several awaitables wins."""

import asyncio

import pytest

from termvisor.errors import TimedOut
from termvisor.workflows.steps.race import race


async def never() -> str:
    await asyncio.Event().wait()
    return ""


async def soon() -> str:
    return "soon"


async def wrong() -> str:
    raise TimedOut("late")


async def test_the_first_answer_counts():
    assert await race(never(), soon()) == "soon"


async def test_the_first_error_is_raised_as_it_is():
    with pytest.raises(TimedOut, match="late"):
        await race(never(), wrong())


async def test_a_race_can_be_cancelled():
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await race(never(), never())
