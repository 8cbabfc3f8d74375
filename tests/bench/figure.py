"""A measured figure with its budget, and the table that prints them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BudgetedFigure:
    """A measured value. With ``is_floor`` the budget is a minimum, else a maximum."""

    name: str
    value: float
    budget: float
    unit: str
    comparison: str = ""
    is_floor: bool = False

    @property
    def is_within_budget(self) -> bool:
        return self.value >= self.budget if self.is_floor else self.value <= self.budget

    @property
    def budget_share(self) -> float:
        """Return the used share of the budget; 1.0 is all of it."""
        used, of = (self.budget, self.value) if self.is_floor else (self.value, self.budget)
        return used / of if of else (0.0 if not used else float("inf"))


def render_table(figures: list[BudgetedFigure]) -> str:
    rows = [("what", "measured", "budget", "of budget", "", "measured against")]
    for one in figures:
        sign = ">=" if one.is_floor else "<="
        verdict = "ok" if one.is_within_budget else "MISSED"
        rows.append(
            (
                one.name,
                f"{one.value:.4g} {one.unit}",
                f"{sign} {one.budget:g} {one.unit}",
                f"{one.budget_share:.2f}x",
                verdict,
                one.comparison,
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(6)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def compute_percentile(values: list[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]
