"""Simulate a process killed during file operations: from a chosen call on, no system call is executed.

A write that is interrupted leaves half of its bytes. Code after the kill, also in `finally`, has no effect,
as with `kill -9`.
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
    """Raised at the simulated kill; only the test catches it."""


@contextmanager
def kill_at_step(step: int) -> Iterator[None]:
    """Skip the ``step``-th call, counted from 1, and all following ones."""
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
    """For every step of the work: prepare, work until killed, verify. Return the number of steps."""
    step = 0
    while True:
        step += 1
        prepare()
        with suppress(SimulatedKill), kill_at_step(step):
            work()
            return step - 1
        verify()
