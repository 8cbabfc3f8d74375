"""Scale the number of hypothesis examples.

By default a test runs 0.3 times the examples that it names. `FUZZ=1` runs all of them, and
`FUZZ=50 pytest tests/fuzz tests/property` fifty times as many.
"""

import os

from hypothesis import HealthCheck, settings

EXAMPLE_FACTOR = float(os.environ.get("FUZZ") or 0.3)


def scale_example_count(base_count: int) -> int:
    return max(5, round(base_count * EXAMPLE_FACTOR))


def build_settings(base_count: int) -> settings:
    return settings(
        max_examples=scale_example_count(base_count), deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
