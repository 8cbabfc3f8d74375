"""Match rules against the complete lines, marks and new screen rows of panes, and build detections from the matches.

In: redacted texts and the agents in each pane. Out: rule matches. A rule for an agent applies only where that agent
runs. A match without a known agent is kept for some seconds, because agents are recognised after their first output.
"""

from _blake2 import blake2b  # hashlib would load OpenSSL: four megabytes
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, tzinfo

from msgspec import Struct
from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.detection.packs.rule_match import is_in_range
from termvisor.detection.scanner import RuleScanner, ScanMatch
from termvisor.model.agent.session import TranscriptMessage
from termvisor.model.detection.detection import Detection, DetectionSource, build_detection_key
from termvisor.model.detection.reset_time import ResetTimeContext, parse_reset_time
from termvisor.model.detection.rule import Rule
from termvisor.model.event import Scalar
from termvisor.model.ids import EpochId, PaneId, RuntimeId
from termvisor.model.terminal.output import Mark
from termvisor.pipeline.epoch_text import TextUpdate, UnseenLines
from termvisor.store.tables.pipeline_commit import StreamDetection

LINES_BEFORE = 3
"""Number of lines that a match may extend back over. They are also the context by which a redraw is recognised."""
_MAX_CONTEXT_CHARS, _MAX_CAPTURE_CHARS = 500, 400
_LIMIT_END_CAPTURES = {"resets_at": "", "try_again_at": "", "try_again_in": "in "}
"""Captures with the time at which a limit resets, and the word to put before each for parsing."""
MAX_PENDING_DETECTIONS = 16
# More than one screen shows.
_MAX_MATCHED_TEXTS = 128
_PENDING_TIMEOUT_NS = 10 * NS
# Output read within this time after its exit may still be the agent's.
_EXIT_GRACE_NS = 10 * NS
_START_GRACE_NS = NS
# An agent without a known process is assumed to have started this long before it was discovered.
_LATE_DISCOVERY_GRACE_NS = 10 * NS


class AgentPresence(Struct, frozen=True, kw_only=True):
    """The period during which an agent process ran in a pane."""

    agent_process: RuntimeId
    agent: str
    version: str = ""
    began_at: int
    ended_at: int | None = None
    has_process: bool = True


PresenceLookup = Callable[[PaneId], Sequence[AgentPresence]]
"""Return the agents that are running in a pane or exited there recently."""


class GatingOptions(Struct, frozen=True, kw_only=True):
    """Whether a rule for an agent requires an agent in the pane, and exactly that agent."""

    is_enabled: bool = True
    is_exact: bool = True


class TextLocation(Struct, frozen=True, kw_only=True):
    """The pane, epoch and source of scanned texts."""

    pane: PaneId
    epoch: EpochId
    source: DetectionSource


class RuleMatch(Struct, frozen=True):
    """A matched rule; ``detection`` names its agent and is None while that agent is not known."""

    rule: Rule
    line: int
    unowned_detection: Detection
    detection: Detection | None


class PendingDetection(Struct, frozen=True, array_like=True):
    """A detection whose agent is not known yet; ``read_at`` is when it was read, not when it was printed."""

    read_at: int
    rule_id: str
    detection: Detection


class RuleMatcher:
    """Matcher of the active rules for all panes. It matches nothing until set_rules() is called."""

    def __init__(self, now: Callable[[], int] = lambda: 0):
        self.now = now
        self._text_scanner: RuleScanner | None = None
        self._mark_scanner: RuleScanner | None = None
        self.transcript_scanner: RuleScanner | None = None
        """Scans the messages of agent transcripts."""
        self.rules: Mapping[str, Rule] = {}
        """The active rules by id."""
        self.find_presences: PresenceLookup = lambda pane: ()
        self.gating = GatingOptions()

    def set_rules(
        self, rules: Iterable[Rule], text_scanner: RuleScanner | None, mark_scanner: RuleScanner | None = None
    ) -> None:
        """Replace the active rules and the scanners for text (lines and rows) and for marks."""
        self.rules = {rule.id: rule for rule in rules}
        self._text_scanner, self._mark_scanner = text_scanner, mark_scanner

    @property
    def has_mark_rules(self) -> bool:
        return self._mark_scanner is not None

    def find_rule(self, rule_id: str) -> Rule | None:
        return self.rules.get(rule_id)

    def match_lines(
        self, location: TextLocation, texts: Sequence[str], time_of: Callable[[int], int], before: Sequence[str] = ()
    ) -> list[RuleMatch]:
        """Return the matches that end on one of these texts; ``before`` are the lines printed before them."""
        matches = self._text_scanner.scan_lines(texts, before) if self._text_scanner is not None and texts else ()
        lines = (*before, *texts) if matches else ()
        return [self._build_match(location, match, lines, len(before), time_of(match.line)) for match in matches]

    def match_rows(self, location: TextLocation, texts: Sequence[str], at: int) -> list[RuleMatch]:
        """Return the matches on the rows of a screen, top row first."""
        matches = self._text_scanner.scan_rows(texts) if self._text_scanner is not None else ()
        return [self._build_match(location, match, texts, 0, at) for match in matches]

    def match_mark(self, location: TextLocation, text: str, at: int) -> list[RuleMatch]:
        matches = self._mark_scanner.scan_lines((text,)) if self._mark_scanner is not None else ()
        return [self._build_match(location, match, (text,), 0, at) for match in matches]

    def detect_in_message(self, message: TranscriptMessage) -> list[Detection]:
        """Return the detections in a transcript message, whose agent is known from the transcript."""
        if self.transcript_scanner is None:
            return []
        texts = message.text.split("\n")
        location = TextLocation(pane=message.pane, epoch=EpochId(0), source="transcript")
        presence = AgentPresence(agent_process=message.runtime, agent=message.agent, began_at=message.at)
        origin = {"session": message.session, "said": message.key, "role": message.role}
        detections = []
        for match in self.transcript_scanner.scan_lines(texts):
            if match.rule.agent in ("", message.agent):
                detection = build_detection(location, match, texts, match.line, message.at)
                detection = replace(detection, evidence=detection.evidence | origin)
                detections.append(assign_agent(detection, match.rule, presence))
        return detections

    def assign_owner(self, rule: Rule, detection: Detection) -> Detection | None:
        """Add the agent that printed the text; return None if the rule is for an agent that is not in the pane."""
        presence = find_owner(rule, self.find_presences(detection.pane), detection.at, self.gating)
        is_agent_missing = presence is None and bool(rule.agent) and self.gating.is_enabled
        return None if is_agent_missing else assign_agent(detection, rule, presence)

    def list_pending(self, matches: Iterable[RuleMatch]) -> tuple[PendingDetection, ...]:
        now = self.now()
        return tuple(
            PendingDetection(now, match.rule.id, match.unowned_detection)
            for match in matches
            if match.detection is None
        )

    def retry_pending(
        self, pending: Sequence[PendingDetection]
    ) -> tuple[list[Detection], tuple[PendingDetection, ...]]:
        """Return the detections whose agent is known by now, and those that stay pending."""
        ready: list[Detection] = []
        left: list[PendingDetection] = []
        for item in pending:
            rule = self.rules.get(item.rule_id)
            detection = None if rule is None else self.assign_owner(rule, item.detection)
            if detection is not None:
                ready.append(detection)
            elif rule is not None and self.now() - item.read_at < _PENDING_TIMEOUT_NS:
                left.append(item)
        return ready, tuple(left[-MAX_PENDING_DETECTIONS:])

    def _build_match(
        self, location: TextLocation, match: ScanMatch, lines: Sequence[str], first: int, at: int
    ) -> RuleMatch:
        detection = build_detection(location, match, lines, first + match.line, at)
        return RuleMatch(match.rule, match.line, detection, self.assign_owner(match.rule, detection))


class LineScanState(Struct, frozen=True, array_like=True):
    """State carried to the next update: the last stored lines, and the detections whose agent is not known yet."""

    last_lines: tuple[str, ...] = ()
    pending: tuple[PendingDetection, ...] = ()


class LineScanner:
    def __init__(self, matcher: RuleMatcher, pane: PaneId, epoch: EpochId, state: LineScanState):
        self._matcher = matcher
        self.state = state
        self._location = TextLocation(pane=pane, epoch=epoch, source="stream")
        self._mark_location = replace(self._location, source="mark")
        self._matched_texts: dict[tuple[int, str], str] = {}

    def scan_update(
        self, update: TextUpdate, marks: Sequence[tuple[int, Mark]], first_index: int
    ) -> tuple[StreamDetection, ...]:
        """Return the detections to store with an update and these marks, and pending ones whose agent is now known.

        ``first_index`` is the index of the first line that the update stores.
        """
        line_matches = [match for new in update.new_lines for match in self._match_new_lines(new)]
        mark_matches = [
            match
            for at, mark in marks
            if mark.text
            for match in self._matcher.match_mark(self._mark_location, f"{mark.kind} {mark.text}", at)
        ]
        ready, pending = self._matcher.retry_pending(self.state.pending) if self.state.pending else ([], ())
        pending += self._matcher.list_pending([*(match for _, match in line_matches), *mark_matches])
        stored = [line for block in update.blocks[-LINES_BEFORE:] for line in block.lines]
        last_lines = (*self.state.last_lines, *stored[-LINES_BEFORE:])[-LINES_BEFORE:]
        self.state = LineScanState(last_lines, pending[-MAX_PENDING_DETECTIONS:])
        return (
            *(StreamDetection(detection) for detection in ready),
            *(StreamDetection(one.detection, index - first_index) for index, one in line_matches if one.detection),
            *(StreamDetection(match.detection) for match in mark_matches if match.detection),
        )

    def _match_new_lines(self, new: UnseenLines) -> list[tuple[int, RuleMatch]]:
        """Return the matches with the index of their line; each text of a line is matched once by a rule."""
        before = (*self.state.last_lines, *new.before[-LINES_BEFORE:])[-LINES_BEFORE:]
        matches = self._matcher.match_lines(self._location, new.texts, lambda place: new.run.lines[place].at, before)
        found = [(new.run.first + match.line, match) for match in matches]
        is_new = [self._is_new_match(index, match, new.texts[match.line]) for index, match in found]
        return [item for item, is_wanted in zip(found, is_new, strict=True) if is_wanted]

    def _is_new_match(self, index: int, match: RuleMatch, text: str) -> bool:
        """Return False if the rule matched the same text in this line before: only something beside it changed."""
        start, end = match.unowned_detection.evidence["start"], match.unowned_detection.evidence["end"]
        matched = text[int(start or 0) : int(end or 0)]
        key = (index, match.rule.id)
        is_new = self._matched_texts.pop(key, None) != matched
        self._matched_texts[key] = matched
        if len(self._matched_texts) > _MAX_MATCHED_TEXTS:
            del self._matched_texts[next(iter(self._matched_texts))]
        return is_new

    def add_pending(self, matches: Iterable[RuleMatch]) -> bool:
        """Keep matches on this pane's screen until their agent is known; return True if any are pending."""
        pending = (*self.state.pending, *self._matcher.list_pending(matches))
        self.state = replace(self.state, pending=pending[-MAX_PENDING_DETECTIONS:])
        return bool(pending)


def find_owner(rule: Rule, presences: Sequence[AgentPresence], at: int, gating: GatingOptions) -> AgentPresence | None:
    """Return the agent that a match at this time belongs to, or None."""
    candidates = [
        presence
        for presence in presences
        if _is_present(presence, at)
        and (presence.agent == rule.agent or (bool(rule.agent) and not gating.is_exact) or not rule.agent)
        and (presence.agent != rule.agent or is_in_range(presence.version, rule.versions))
    ]
    return max(candidates, key=lambda presence: (presence.agent == rule.agent, presence.began_at), default=None)


def _is_present(presence: AgentPresence, at: int) -> bool:
    early = _START_GRACE_NS if presence.has_process else _LATE_DISCOVERY_GRACE_NS
    return presence.began_at - early <= at and (presence.ended_at is None or at - presence.ended_at < _EXIT_GRACE_NS)


def build_detection(location: TextLocation, match: ScanMatch, lines: Sequence[str], line: int, at: int) -> Detection:
    """Build the detection of a match, without an agent."""
    rule = match.rule
    captures = {name: value[:_MAX_CAPTURE_CHARS] for name, value in match.captures.items()}
    evidence: dict[str, Scalar] = {"epoch": location.epoch, "start": match.start, "end": match.end}
    if (ends_at := find_limit_end(captures, at)) is not None:
        evidence["resets_at"] = ends_at
    return Detection(
        at=at,
        type=rule.event,
        rule=rule.id,
        pane=location.pane,
        severity=rule.severity,
        captures=captures,
        source=location.source,
        evidence=evidence,
        context=_build_context(lines, line),
        confidence=rule.confidence,
        cooldown=rule.cooldown,
        trace=_hash_screen_text(rule, lines, line) if rule.agent else "",
    )


def assign_agent(detection: Detection, rule: Rule, presence: AgentPresence | None) -> Detection:
    """Return the detection with its agent and key. Without an agent process, redraws are not recognised."""
    runtime, agent = (None, rule.agent) if presence is None else (presence.agent_process, presence.agent)
    key = build_detection_key(rule.event, rule.agent or rule.id, runtime, detection.captures)
    return replace(detection, runtime=runtime, agent=agent, key=key, trace=detection.trace if runtime else "")


def find_limit_end(captures: dict[str, str], at: int) -> int | None:
    """Return when a limit resets, parsed from the captures. A time without a zone is local."""
    text = next((before + captures[name] for name, before in _LIMIT_END_CAPTURES.items() if name in captures), "")
    zone = datetime.fromtimestamp(at // NS).astimezone().tzinfo if text else None
    return parse_reset_time(text, ResetTimeContext(at, zone, _find_time_zone)) if zone is not None else None


def _find_time_zone(name: str) -> tzinfo | None:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        # The name comes from pane output.
        return None


def _build_context(lines: Sequence[str], line: int) -> str:
    """Return the matched line and those above it, shortened at the top first. Lines below may not be printed yet."""
    own = lines[line][:_MAX_CONTEXT_CHARS]
    left = _MAX_CONTEXT_CHARS - len(own) - 1
    above = "\n".join(lines[max(0, line - LINES_BEFORE) : line])[-left:] if left > 0 else ""
    return f"{above}\n{own}" if above else own


def _hash_screen_text(rule: Rule, lines: Sequence[str], line: int) -> str:
    shown = "\n".join(" ".join(text.split()) for text in lines[max(0, line - LINES_BEFORE) : line + 1])
    return blake2b(f"{rule.id}\n{shown}".encode("utf-8", "replace"), digest_size=8).hexdigest()
