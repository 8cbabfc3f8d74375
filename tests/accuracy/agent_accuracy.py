"""Measure how accurately the states of one agent version are detected, and compare with the budgets."""

from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec import Struct

from termvisor.agents.adapters.adapter import Adapter
from termvisor.model.agent.state import PRECEDENCE
from tests.accuracy.labeled_scene import LabeledScene, load_labeled_scenes
from tests.accuracy.metrics import LabelPairs, compute_false_rate, compute_recall, compute_weighted_f1, format_matrix
from tests.bench.figure import BudgetedFigure
from tests.recordings.near_miss import NearMiss, load_near_misses

WAITING_STATES = ("waiting_approval", "waiting_input")
OWN_SIGNALS_F1 = "own word, weighted F1"
MIN_OWN_SIGNALS_F1, MIN_SCREEN_F1, MIN_WAITING_RECALL, MAX_FALSE_WAITING_PERCENT = 0.99, 0.95, 0.98, 0.5
"""The budgets: docs/states.md says what they mean."""


class AgentAccuracy(Struct, frozen=True, kw_only=True):
    """Pairs of true and detected states of one agent version."""

    agent: str
    version: str
    own_pairs: LabelPairs
    """Scenes about which the agent's own signals report a state."""
    screen_pairs: LabelPairs
    """All scenes, by the screen alone."""
    published_pairs: LabelPairs
    """All scenes of a running agent, by all sources together."""
    near_miss_pairs: LabelPairs
    mistakes: tuple[str, ...] = ()
    """Descriptions of wrong states."""
    known_holes: tuple[str, ...] = ()
    """What the agent does not report at all; not counted as mistakes of its own signals."""

    @property
    def name(self) -> str:
        return f"{self.agent} {self.version}".rstrip()

    def build_figures(self) -> list[BudgetedFigure]:
        """Return all figures; without recordings only the false waiting rate on near misses."""
        screen_figure = self._build_false_waiting_figure(
            "screen alone", self.screen_pairs + self.near_miss_pairs, "moments and near misses"
        )
        return (
            [
                *self._build_score_figures(),
                screen_figure,
                self._build_false_waiting_figure("together", self.published_pairs, "moments"),
            ]
            if self.screen_pairs
            else [screen_figure]
        )

    def _build_score_figures(self) -> list[BudgetedFigure]:
        excluded = f", {len(self.known_holes)} known holes apart" if self.known_holes else ""
        own_basis = f"{self.own_pairs.total()} of {self.published_pairs.total()} moments: of those it speaks{excluded}"
        waiting = sum(count for (truth, _), count in self.screen_pairs.items() if truth in WAITING_STATES)
        published_basis = f"{self.published_pairs.total()} moments"
        return [
            self._build_floor_figure(
                OWN_SIGNALS_F1, compute_weighted_f1(self.own_pairs), MIN_OWN_SIGNALS_F1, own_basis
            ),
            self._build_floor_figure(
                "screen alone, weighted F1",
                compute_weighted_f1(self.screen_pairs),
                MIN_SCREEN_F1,
                f"{self.screen_pairs.total()} moments",
            ),
            self._build_floor_figure(
                "together, weighted F1", compute_weighted_f1(self.published_pairs), MIN_SCREEN_F1, published_basis
            ),
            self._build_floor_figure(
                "screen alone, waiting recall",
                compute_recall(self.screen_pairs, WAITING_STATES),
                MIN_WAITING_RECALL,
                f"{waiting} moments",
            ),
            self._build_floor_figure(
                "together, waiting recall",
                compute_recall(self.published_pairs, WAITING_STATES),
                MIN_WAITING_RECALL,
                f"{waiting} moments",
            ),
        ]

    def _build_floor_figure(self, what: str, value: float, budget: float, against: str) -> BudgetedFigure:
        return BudgetedFigure(f"{self.name}: {what}", value, budget, "", against, is_floor=True)

    def _build_false_waiting_figure(self, what: str, pairs: LabelPairs, of: str) -> BudgetedFigure:
        not_waiting = sum(count for (truth, _), count in pairs.items() if truth not in WAITING_STATES)
        rate = 100 * compute_false_rate(pairs, WAITING_STATES)
        return BudgetedFigure(
            f"{self.name}: {what}, false waiting", rate, MAX_FALSE_WAITING_PERCENT, "%", f"{not_waiting} {of}"
        )

    def format_matrices(self) -> str:
        parts = {"own word": self.own_pairs, "screen alone": self.screen_pairs, "together": self.published_pairs}
        return "\n\n".join(
            f"{self.name}: {what}\n{format_matrix(pairs, PRECEDENCE)}" for what, pairs in parts.items() if pairs
        )


def measure_accuracy(adapters: Iterable[Adapter]) -> list[AgentAccuracy]:
    misses = load_near_misses()
    return [accuracy for adapter in adapters for accuracy in _measure_agent(adapter, misses)]


def _measure_agent(adapter: Adapter, misses: list[NearMiss]) -> list[AgentAccuracy]:
    """Return the accuracy of each recorded version, or of the near misses alone if there are no recordings."""
    scenes_by_version: dict[str, list[LabeledScene]] = {}
    for scene in load_labeled_scenes(adapter):
        scenes_by_version.setdefault(scene.version, []).append(scene)
    return [
        _measure_version(adapter, version, scenes, misses)
        for version, scenes in sorted(scenes_by_version.items() or {"": []}.items())
    ]


def _measure_version(
    adapter: Adapter, version: str, labeled_scenes: list[LabeledScene], misses: list[NearMiss]
) -> AgentAccuracy:
    near_miss_states = [(miss.name, adapter.classify_screen(miss.screen).state) for miss in misses]
    own = [(scene, scene.claimed_state) for scene in labeled_scenes if scene.own_state and not scene.known_hole]
    by_screen = [(scene, scene.screen_state) for scene in labeled_scenes]
    published = [(scene, scene.published_state) for scene in labeled_scenes if scene.published_state]
    parts = {"own word": own, "screen": by_screen, "together": published}
    return AgentAccuracy(
        agent=adapter.name,
        version=version,
        own_pairs=_count_pairs(own),
        screen_pairs=_count_pairs(by_screen),
        published_pairs=_count_pairs(published),
        near_miss_pairs=Counter(("unknown", state) for _, state in near_miss_states),
        mistakes=(
            *(line for part, states in parts.items() for line in _list_mistakes(part, states)),
            *(f"near miss {name}, screen: {state}" for name, state in near_miss_states if state in WAITING_STATES),
        ),
        known_holes=tuple(
            f"{one.name}, own word: {one.own_state}, was {one.truths[0]}: {one.known_hole}"
            for one in labeled_scenes
            if one.known_hole
        ),
    )


def _count_pairs(states: Iterable[tuple[LabeledScene, str]]) -> LabelPairs:
    return Counter(one.pair_with_truth(state) for one, state in states)


def _list_mistakes(part: str, states: Iterable[tuple[LabeledScene, str]]) -> Iterator[str]:
    return (f"{one.name}, {part}: {state}, was {one.truths[0]}" for one, state in states if state not in one.truths)
