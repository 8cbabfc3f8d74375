"""How long to look: `FUZZ=50 pytest tests/fuzz tests/property` tries fifty times as many examples as the habit does."""

import os

from hypothesis import HealthCheck, settings

TIMES = int(os.environ.get("FUZZ") or 1)


def examples(count: int) -> settings:
    return settings(max_examples=count * TIMES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
