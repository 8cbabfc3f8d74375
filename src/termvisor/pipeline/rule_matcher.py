"""Rules meet text: settled lines of a pane, marks, and new rows of a repainting one.

In: redacted texts, and who is in the pane. Out: spots. A rule about an agent counts where that agent is. One that fits
where nobody is known yet waits for some seconds: an agent is recognised a moment after its first words.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.model.agent.transcript_message import TranscriptMessage
from termvisor.model.detection.detection import Detection
from termvisor.model.detection.rule import Rule
from termvisor.model.ids import EpochId
from termvisor.pipeline.agent_presence import AgentPresence, GatingOptions, PresenceLookup, find_owner
from termvisor.pipeline.rule_match import PatternMatch, RuleMatch, TextLocation, assign_agent, build_detection

LineTimeLookup = Callable[[int], int]
"""When a text was printed, by its place among the others."""
_MAX_PENDING_DETECTIONS = 16
_PENDING_TIMEOUT_NS = 10 * NS


class PatternScanner(Protocol):
    """See `termvisor.detection.scanner.RuleScan`."""

    def scan_lines(self, texts: Sequence[str], before: Sequence[str] = ()) -> Sequence[PatternMatch]: ...

    def scan_rows(self, texts: Sequence[str]) -> Sequence[PatternMatch]: ...


class PendingDetection(Struct, frozen=True, array_like=True):
    """A detection that nobody could be named for yet; ``at`` is when it was read, not when it was printed."""

    read_at: int
    rule_id: str
    detection: Detection


class RuleMatcher:
    """The rules in force and who is where; one for all panes. Without rules it finds nothing."""

    def __init__(self, now: Callable[[], int] = lambda: 0):
        self.now = now
        self._text_scanner: PatternScanner | None = None
        self._mark_scanner: PatternScanner | None = None
        self.transcript_scanner: PatternScanner | None = None
        """For what is said in conversations."""
        self._rules: dict[str, Rule] = {}
        self.find_presences: PresenceLookup = lambda pane: ()
        self.gating = GatingOptions()

    def set_rules(
        self, rules: Iterable[Rule], text_scanner: PatternScanner | None, mark_scanner: PatternScanner | None = None
    ) -> None:
        """From now on these rules hold: one scan for lines and rows, one for marks."""
        self._rules = {rule.id: rule for rule in rules}
        self._text_scanner, self._mark_scanner = text_scanner, mark_scanner

    @property
    def has_mark_rules(self) -> bool:
        return self._mark_scanner is not None

    def find_rule(self, name: str) -> Rule | None:
        return self._rules.get(name)

    @property
    def rules(self) -> Mapping[str, Rule]:
        """Those in force, by id."""
        return self._rules

    def match_lines(
        self, location: TextLocation, texts: Sequence[str], time_of: LineTimeLookup, before: Sequence[str] = ()
    ) -> list[RuleMatch]:
        """What ends on one of these texts; ``before`` are those that came before them."""
        matches = self._text_scanner.scan_lines(texts, before) if self._text_scanner is not None and texts else ()
        lines = (*before, *texts) if matches else ()
        return [self._build_match(location, match, lines, len(before), time_of(match.line)) for match in matches]

    def match_rows(self, location: TextLocation, texts: Sequence[str], at: int) -> list[RuleMatch]:
        """What stands on a screen, on rows from above."""
        matches = self._text_scanner.scan_rows(texts) if self._text_scanner is not None else ()
        return [self._build_match(location, match, texts, 0, at) for match in matches]

    def match_mark(self, location: TextLocation, text: str, at: int) -> list[RuleMatch]:
        matches = self._mark_scanner.scan_lines((text,)) if self._mark_scanner is not None else ()
        return [self._build_match(location, match, (text,), 0, at) for match in matches]

    def detect_in_message(self, message: TranscriptMessage) -> list[Detection]:
        """What stands in something that was said to an agent or by it. Whose it is needs no proof."""
        if self.transcript_scanner is None:
            return []
        texts = message.text.split("\n")
        place = TextLocation(pane=message.pane, epoch=EpochId(0), source="transcript")
        stay = AgentPresence(agent_process=message.runtime, agent=message.agent, began_at=message.at)
        fitting = (
            match for match in self.transcript_scanner.scan_lines(texts) if match.rule.agent in ("", message.agent)
        )
        found = [(match.rule, build_detection(place, match, texts, match.line, message.at)) for match in fitting]
        where = {"session": message.session, "said": message.key, "role": message.role}
        return [replace(assign_agent(one, rule, stay), evidence=one.evidence | where) for rule, one in found]

    def assign_owner(self, rule: Rule, detection: Detection) -> Detection | None:
        """With the agent whose text it is; None where the rule is about one that is not there."""
        stay = find_owner(rule, self.find_presences(detection.pane), detection.at, self.gating)
        is_nobodys = stay is None and bool(rule.agent) and self.gating.is_enabled
        return None if is_nobodys else assign_agent(detection, rule, stay)

    def list_pending(self, matches: Iterable[RuleMatch]) -> tuple[PendingDetection, ...]:
        now = self.now()
        return tuple(
            PendingDetection(now, spot.rule.id, spot.unowned_detection) for spot in matches if spot.detection is None
        )

    def retry_pending(
        self, pending: Sequence[PendingDetection]
    ) -> tuple[list[Detection], tuple[PendingDetection, ...]]:
        """What waited for an agent that is there now, and what waits on."""
        ready: list[Detection] = []
        left: list[PendingDetection] = []
        for one in pending:
            rule = self._rules.get(one.rule_id)
            detection = None if rule is None else self.assign_owner(rule, one.detection)
            if detection is not None:
                ready.append(detection)
            elif rule is not None and self.now() - one.read_at < _PENDING_TIMEOUT_NS:
                left.append(one)
        return ready, tuple(left[-_MAX_PENDING_DETECTIONS:])

    def _build_match(
        self, location: TextLocation, match: PatternMatch, lines: Sequence[str], known: int, at: int
    ) -> RuleMatch:
        found = build_detection(location, match, lines, known + match.line, at)
        return RuleMatch(match.rule, match.line, found, self.assign_owner(match.rule, found))
