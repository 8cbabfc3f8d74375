"""One measured figure, its budget, and how they are printed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """``is_floor``: the budget is the least that is good enough, else the most."""

    name: str
    value: float
    budget: float
    unit: str
    against: str = ""
    is_floor: bool = False

    @property
    def is_met(self) -> bool:
        return self.value >= self.budget if self.is_floor else self.value <= self.budget

    @property
    def share(self) -> float:
        """How much of the budget is used: 1.0 is all of it."""
        used, of = (self.budget, self.value) if self.is_floor else (self.value, self.budget)
        return used / of if of else (0.0 if not used else float("inf"))


def table(figures: list[Figure]) -> str:
    rows = [("what", "measured", "budget", "of budget", "", "measured against")]
    for one in figures:
        sign = ">=" if one.is_floor else "<="
        verdict = "ok" if one.is_met else "MISSED"
        rows.append(
            (
                one.name,
                f"{one.value:.4g} {one.unit}",
                f"{sign} {one.budget:g} {one.unit}",
                f"{one.share:.2f}x",
                verdict,
                one.against,
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(6)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def percentile(values: list[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]
