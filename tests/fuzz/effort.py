"""How long to look. The habit tries a few of the examples that a test names, for what is broken plainly; `FUZZ=1` all
of them, and `FUZZ=50 pytest tests/fuzz tests/property` fifty times as many."""

import os

from hypothesis import HealthCheck, settings

TIMES = float(os.environ.get("FUZZ") or 0.3)


def count(named: int) -> int:
    return max(5, round(named * TIMES))


def examples(named: int) -> settings:
    return settings(max_examples=count(named), deadline=None, suppress_health_check=[HealthCheck.too_slow])
