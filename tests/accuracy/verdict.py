"""A Verdict is how well one version of one agent is known, beside what was promised."""

from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec import Struct

from termvisor.agents.adapters.adapter import Adapter
from termvisor.model.agent.state import PRECEDENCE
from tests.accuracy.metrics import Pairs, false_rate, matrix, recall, weighted_f1
from tests.accuracy.moment import Moment, moments
from tests.bench.figure import Figure
from tests.recordings.near_miss import NearMiss, near_misses

WAITING = ("waiting_approval", "waiting_input")
OWN_WORD = "own word, weighted F1"
TOLD_F1, SEEN_F1, RECALL, FALSE_PERCENT = 0.99, 0.95, 0.98, 0.5
"""The budgets: docs/states.md says what they mean."""


class Verdict(Struct, frozen=True, kw_only=True):
    agent: str
    version: str
    told: Pairs
    """Moments of which the agent's own signals tell something."""
    seen: Pairs
    """All moments, by their screens alone."""
    published: Pairs
    """All moments of an agent that lives, by everything together."""
    near_misses: Pairs
    wrong: tuple[str, ...] = ()
    """What was not as it should be, in words."""
    holes: tuple[str, ...] = ()
    """What the agent itself does not tell, and so is not held against its own word."""

    @property
    def name(self) -> str:
        return f"{self.agent} {self.version}".rstrip()

    def figures(self) -> list[Figure]:
        """Where nothing was recorded of the agent, there is only what it must not be taken for."""
        looks = self._false("screen alone", self.seen + self.near_misses, "moments and near misses")
        return [*self._scores(), looks, self._false("together", self.published, "moments")] if self.seen else [looks]

    def _scores(self) -> list[Figure]:
        apart = f", {len(self.holes)} known holes apart" if self.holes else ""
        spoken = f"{self.told.total()} of {self.published.total()} moments: of those it speaks{apart}"
        waiting = sum(count for (so, _), count in self.seen.items() if so in WAITING)
        living = f"{self.published.total()} moments"
        return [
            self._floor(OWN_WORD, weighted_f1(self.told), TOLD_F1, spoken),
            self._floor("screen alone, weighted F1", weighted_f1(self.seen), SEEN_F1, f"{self.seen.total()} moments"),
            self._floor("together, weighted F1", weighted_f1(self.published), SEEN_F1, living),
            self._floor("screen alone, waiting recall", recall(self.seen, WAITING), RECALL, f"{waiting} moments"),
            self._floor("together, waiting recall", recall(self.published, WAITING), RECALL, f"{waiting} moments"),
        ]

    def _floor(self, what: str, value: float, budget: float, against: str) -> Figure:
        return Figure(f"{self.name}: {what}", value, budget, "", against, is_floor=True)

    def _false(self, what: str, pairs: Pairs, of: str) -> Figure:
        calm = sum(count for (so, _), count in pairs.items() if so not in WAITING)
        rate = 100 * false_rate(pairs, WAITING)
        return Figure(f"{self.name}: {what}, false waiting", rate, FALSE_PERCENT, "%", f"{calm} {of}")

    def matrices(self) -> str:
        parts = {"own word": self.told, "screen alone": self.seen, "together": self.published}
        return "\n\n".join(
            f"{self.name}: {what}\n{matrix(pairs, PRECEDENCE)}" for what, pairs in parts.items() if pairs
        )


def verdicts(adapters: Iterable[Adapter]) -> list[Verdict]:
    misses = near_misses()
    return [one for adapter in adapters for one in _of(adapter, misses)]


def _of(adapter: Adapter, misses: list[NearMiss]) -> list[Verdict]:
    """One for each version that was recorded; one for the near misses where none was."""
    found: dict[str, list[Moment]] = {}
    for one in moments(adapter):
        found.setdefault(one.version, []).append(one)
    return [_verdict(adapter, version, of_it, misses) for version, of_it in sorted(found.items() or {"": []}.items())]


def _verdict(adapter: Adapter, version: str, found: list[Moment], misses: list[NearMiss]) -> Verdict:
    looks = [(miss.name, adapter.look(miss.screen).state) for miss in misses]
    told = [(one, one.claimed) for one in found if one.told and not one.hole]
    seen = [(one, one.seen) for one in found]
    published = [(one, one.published) for one in found if one.published]
    parts = {"own word": told, "screen": seen, "together": published}
    return Verdict(
        agent=adapter.name,
        version=version,
        told=_pairs(told),
        seen=_pairs(seen),
        published=_pairs(published),
        near_misses=Counter(("unknown", state) for _, state in looks),
        wrong=(
            *(line for part, said in parts.items() for line in _wrong(part, said)),
            *(f"near miss {name}, screen: {state}" for name, state in looks if state in WAITING),
        ),
        holes=tuple(f"{one.name}, own word: {one.told}, was {one.truths[0]}: {one.hole}" for one in found if one.hole),
    )


def _pairs(said: Iterable[tuple[Moment, str]]) -> Pairs:
    return Counter(one.against(state) for one, state in said)


def _wrong(part: str, said: Iterable[tuple[Moment, str]]) -> Iterator[str]:
    return (f"{one.name}, {part}: {state}, was {one.truths[0]}" for one, state in said if state not in one.truths)
