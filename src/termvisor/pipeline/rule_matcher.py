"""Rules meet text: settled lines of a pane, marks, and new rows of a repainting one.

In: redacted texts, and who is in the pane. Out: spots. A rule about an agent counts where that agent is. One that fits
where nobody is known yet waits for some seconds: an agent is recognised a moment after its first words.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.model.agent.transcript_message import Utterance
from termvisor.model.detection.detection import Detection
from termvisor.model.detection.rule import Rule
from termvisor.model.ids import EpochId
from termvisor.pipeline.agent_presence import Gating, Stay, Stays, whose
from termvisor.pipeline.rule_match import Match, Place, Spot, bare, of

TimeOf = Callable[[int], int]
"""When a text was printed, by its place among the others."""
_HELD = 16
_HELD_FOR = 10 * NS


class Scan(Protocol):
    """See `termvisor.detection.scanner.RuleScan`."""

    def lines(self, texts: Sequence[str], before: Sequence[str] = ()) -> Sequence[Match]: ...

    def rows(self, texts: Sequence[str]) -> Sequence[Match]: ...


class Held(Struct, frozen=True, array_like=True):
    """A detection that nobody could be named for yet; ``at`` is when it was read, not when it was printed."""

    at: int
    rule: str
    detection: Detection


class Spotter:
    """The rules in force and who is where; one for all panes. Without rules it finds nothing."""

    def __init__(self, now: Callable[[], int] = lambda: 0):
        self.now = now
        self._scan: Scan | None = None
        self._marks: Scan | None = None
        self.words: Scan | None = None
        """For what is said in conversations."""
        self._rules: dict[str, Rule] = {}
        self.stays: Stays = lambda pane: ()
        self.gating = Gating()

    def use(self, rules: Iterable[Rule], scan: Scan | None, marks: Scan | None = None) -> None:
        """From now on these rules hold: one scan for lines and rows, one for marks."""
        self._rules = {rule.id: rule for rule in rules}
        self._scan, self._marks = scan, marks

    @property
    def hears_marks(self) -> bool:
        return self._marks is not None

    def rule(self, name: str) -> Rule | None:
        return self._rules.get(name)

    @property
    def rules(self) -> Mapping[str, Rule]:
        """Those in force, by id."""
        return self._rules

    def spot(self, place: Place, texts: Sequence[str], time_of: TimeOf, before: Sequence[str] = ()) -> list[Spot]:
        """What ends on one of these texts; ``before`` are those that came before them."""
        matches = self._scan.lines(texts, before) if self._scan is not None and texts else ()
        lines = (*before, *texts) if matches else ()
        return [self._spot(place, match, lines, len(before), time_of(match.line)) for match in matches]

    def spot_rows(self, place: Place, texts: Sequence[str], at: int) -> list[Spot]:
        """What stands on a screen, on rows from above."""
        matches = self._scan.rows(texts) if self._scan is not None else ()
        return [self._spot(place, match, texts, 0, at) for match in matches]

    def spot_mark(self, place: Place, text: str, at: int) -> list[Spot]:
        matches = self._marks.lines((text,)) if self._marks is not None else ()
        return [self._spot(place, match, (text,), 0, at) for match in matches]

    def spot_words(self, said: Utterance) -> list[Detection]:
        """What stands in something that was said to an agent or by it. Whose it is needs no proof."""
        if self.words is None:
            return []
        texts = said.text.split("\n")
        place = Place(pane=said.pane, epoch=EpochId(0), source="transcript")
        stay = Stay(runtime=said.runtime, agent=said.agent, began_at=said.at)
        fitting = (match for match in self.words.lines(texts) if match.rule.agent in ("", said.agent))
        found = [(match.rule, bare(place, match, texts, match.line, said.at)) for match in fitting]
        where = {"session": said.session, "said": said.key, "role": said.role}
        return [replace(of(one, rule, stay), evidence=one.evidence | where) for rule, one in found]

    def owned(self, rule: Rule, detection: Detection) -> Detection | None:
        """With the agent whose text it is; None where the rule is about one that is not there."""
        stay = whose(rule, self.stays(detection.pane), detection.at, self.gating)
        is_nobodys = stay is None and bool(rule.agent) and self.gating.is_on
        return None if is_nobodys else of(detection, rule, stay)

    def waiting(self, spots: Iterable[Spot]) -> tuple[Held, ...]:
        now = self.now()
        return tuple(Held(now, spot.rule.id, spot.bare) for spot in spots if spot.detection is None)

    def tried_again(self, held: Sequence[Held]) -> tuple[list[Detection], tuple[Held, ...]]:
        """What waited for an agent that is there now, and what waits on."""
        ready: list[Detection] = []
        left: list[Held] = []
        for one in held:
            rule = self._rules.get(one.rule)
            detection = None if rule is None else self.owned(rule, one.detection)
            if detection is not None:
                ready.append(detection)
            elif rule is not None and self.now() - one.at < _HELD_FOR:
                left.append(one)
        return ready, tuple(left[-_HELD:])

    def _spot(self, place: Place, match: Match, lines: Sequence[str], known: int, at: int) -> Spot:
        found = bare(place, match, lines, known + match.line, at)
        return Spot(match.rule, match.line, found, self.owned(match.rule, found))
