"""A process that is killed in the middle of its file work: from a chosen call on, the system does nothing any more.

A write that is met by the end leaves half of its bytes. What the code would do after that, also in `finally`, is not
done either, as it is with `kill -9`.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

INTERCEPTED_CALLS = (
    "open",
    "write",
    "fsync",
    "rename",
    "replace",
    "link",
    "unlink",
    "chmod",
    "fchmod",
    "utime",
    "rmdir",
)


class SimulatedKill(BaseException):
    """Nothing catches it but the test."""


@contextmanager
def kill_at_step(step: int) -> Iterator[None]:
    """The ``step``-th of the calls, counted from 1, and all that follow are not made."""
    made = 0
    with pytest.MonkeyPatch.context() as patch:

        def wrap_call(call: Callable[..., Any], name: str) -> Callable[..., Any]:
            def call_or_kill(*args: Any, **options: Any) -> Any:
                nonlocal made
                made += 1
                if made >= step:
                    if made == step and name == "write":
                        call(args[0], bytes(args[1])[: len(args[1]) // 2])
                    raise SimulatedKill
                return call(*args, **options)

            return call_or_kill

        for name in INTERCEPTED_CALLS:
            patch.setattr(os, name, wrap_call(getattr(os, name), name))
        yield


def kill_at_every_step(work: Callable[[], object], prepare: Callable[[], None], verify: Callable[[], None]) -> int:
    """Prepare, work until killed, judge what is left; for every step of the work. How many steps there were."""
    step = 0
    while True:
        step += 1
        prepare()
        with suppress(SimulatedKill), kill_at_step(step):
            work()
            return step - 1
        verify()
