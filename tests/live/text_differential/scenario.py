"""Scenarios: a program in a pane, with the keys that are typed into it and the size of the pane."""

from typing import Literal

from msgspec import Struct

Group = Literal["programs", "progress", "pagers", "typed", "resized", "sequences", "encodings", "long"]
SIZES = ((40, 24), (80, 24), (120, 50), (200, 50))
SMALL_SIZES = ((40, 6), (80, 6), (120, 6), (200, 6))
"""Panes that are low, so that short sequences reach the last row and scroll."""


class Scenario(Struct, frozen=True):
    """A command line of `sh`, run in a folder of its own.

    Each of ``steps`` is typed, character by character, once the output has been quiet for a moment. ``<Enter>``,
    ``<C-c>`` and so on are keys by their tmux names; a step ``<resize 60x20>`` changes the size of the pane.
    """

    name: str
    group: Group
    command: str
    steps: tuple[str, ...] = ()
    sizes: tuple[tuple[int, int], ...] = SIZES


class ScenarioRun(Struct, frozen=True):
    """A scenario in a pane of one size."""

    scenario: Scenario
    width: int
    height: int

    @property
    def name(self) -> str:
        return f"{self.scenario.name}-{self.width}"


def expand_runs(scenarios: tuple[Scenario, ...]) -> list[ScenarioRun]:
    return [ScenarioRun(scenario, *size) for scenario in scenarios for size in scenario.sizes]
