"""The time to prove where a screen continues the stored lines: polled panes are looked at several times a second."""

from __future__ import annotations

import time

from termvisor.capture.overlap import find_rows_after_tail
from tests.bench.figure import BudgetedFigure, compute_percentile

_ROUNDS = 300


def measure_overlap() -> list[BudgetedFigure]:
    return [
        BudgetedFigure(
            "continue a screen of 40 rows", _measure_proof(40), 50, "us", "fifty panes, five times a second"
        ),
        BudgetedFigure("continue a scrollback of 2,000 rows", _measure_proof(2000), 500, "us", "after a lost stream"),
    ]


def _measure_proof(row_count: int) -> float:
    """Return the middle time in microseconds."""
    history = [f"[{number:05}] compiling src/module_{number % 97}.c" for number in range(row_count + 200)]
    tail, rows, times = history[:200], history[180 : 180 + row_count], []
    for _ in range(_ROUNDS):
        start = time.perf_counter()
        found = find_rows_after_tail(tail, rows)
        times.append(1e6 * (time.perf_counter() - start))
    assert found == rows[20:]
    return compute_percentile(times, 0.5)
