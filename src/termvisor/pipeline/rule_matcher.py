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
from termvisor.pipeline.shown_matches import ShownMatches, build_identity, follow_matches
from termvisor.store.tables.output import StreamDetection

LINES_BEFORE = 3
"""Number of lines that a match may extend back over. They are also the context by which a redraw is recognised."""
_MAX_CONTEXT_CHARS, _MAX_CAPTURE_CHARS = 500, 400
_LIMIT_END_CAPTURES = {"resets_at": "", "try_again_at": "", "try_again_in": "in "}
"""Captures with the time at which a limit resets, and the word to put before each for parsing."""
MAX_PENDING_DETECTIONS = 16
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

    def get_matched_text(self, texts: Sequence[str]) -> str:
        """Return the matched part of its line; ``texts`` are the scanned lines."""
        start, end = self.unowned_detection.evidence["start"], self.unowned_detection.evidence["end"]
        return texts[self.line][max(0, int(start or 0)) : int(end or 0)]

    def drop_trace(self) -> "RuleMatch":
        """Return the match as one that is not compared with earlier texts."""
        detection = None if self.detection is None else replace(self.detection, trace="")
        return replace(self, unowned_detection=replace(self.unowned_detection, trace=""), detection=detection)


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
    """State carried to the next update: the last stored lines, and the detections whose agent is not known yet.

    Stored by position: the order of the fields is part of the database format.
    """

    last_lines: tuple[str, ...] = ()
    pending: tuple[PendingDetection, ...] = ()
    matched_lines: tuple[tuple[int, str, bool], ...] = ()
    """Lines of the window by index, the identity of what a rule matched there, and whether it is still there."""
    shown: ShownMatches = ()


class LineScanner:
    def __init__(self, matcher: RuleMatcher, pane: PaneId, epoch: EpochId, state: LineScanState):
        self._matcher = matcher
        self.state = state
        self._location = TextLocation(pane=pane, epoch=epoch, source="stream")
        self._mark_location = replace(self._location, source="mark")

    @property
    def is_following(self) -> bool:
        """Return True if time alone changes the state: matches are shown, or wait for their agent."""
        return bool(self.state.pending or self.state.shown)

    def scan_update(
        self, update: TextUpdate, marks: Sequence[tuple[int, Mark]], first_index: int, at: int
    ) -> tuple[StreamDetection, ...]:
        """Return the detections to store with an update and these marks, and pending ones whose agent is now known.

        ``first_index`` is the index of the first line that the update stores; ``at`` is the time of the last byte.
        """
        stored = [line for block in update.blocks[-LINES_BEFORE:] for line in block.lines]
        window = first_index + sum(len(block.lines) for block in update.blocks)
        line_matches, state = self._match_changes(update.new_lines, window, at)
        mark_matches = [
            match
            for marked_at, mark in marks
            if mark.text
            for match in self._matcher.match_mark(self._mark_location, f"{mark.kind} {mark.text}", marked_at)
        ]
        ready, pending = self._matcher.retry_pending(self.state.pending) if self.state.pending else ([], ())
        pending += self._matcher.list_pending([*(match for _, match in line_matches), *mark_matches])
        last_lines = (*self.state.last_lines, *stored[-LINES_BEFORE:])[-LINES_BEFORE:]
        self.state = replace(state, last_lines=last_lines, pending=pending[-MAX_PENDING_DETECTIONS:])
        return (
            *(StreamDetection(detection) for detection in ready),
            *(StreamDetection(one.detection, index - first_index) for index, one in line_matches if one.detection),
            *(StreamDetection(match.detection) for match in mark_matches if match.detection),
        )

    def _match_changes(
        self, changes: Sequence[UnseenLines], window: int, at: int
    ) -> tuple[list[tuple[int, RuleMatch]], LineScanState]:
        """Return the new matches with the index of their line, and the state with the matches that the window shows.

        A text in the same line is matched once by a rule, unless it was away; ``window`` is the window's first index.
        """
        found = [
            (index, match, build_identity(match.rule.id, text))
            for new in changes
            for index, match, text in self._match_new_lines(new)
        ]
        changed = {index for new in changes for index in range(new.run.first, new.run.first + len(new.run.lines))}
        known = {one[:2] for one in self.state.matched_lines}
        in_window = {one[:2] for one in self.state.matched_lines if one[2] and one[0] not in changed}
        in_window = {one for one in in_window | {(index, name) for index, _, name in found} if one[0] >= window}
        visible = dict.fromkeys((name for _, name in in_window), 1)
        shown, appeared = follow_matches(self.state.shown, visible, at) if visible or self.state.shown else ((), set())
        back = appeared & {one.identity for one in self.state.shown}
        # Erased for a moment: the program may be repainting the line.
        erased = {one.identity for one in shown if one.fewer_since}
        gone = {one for one in known - in_window if one[0] >= window and one[1] in erased}
        matched_lines = tuple(sorted((*one, one in in_window) for one in in_window | gone))
        # A text that is back may have the same lines above it as before, and yet it is no redraw.
        new_matches = [
            (index, match.drop_trace() if name in back and index >= window else match)
            for index, match, name in found
            if name in back or (index, name) not in known
        ]
        return new_matches, replace(self.state, matched_lines=matched_lines, shown=shown)

    def _match_new_lines(self, new: UnseenLines) -> list[tuple[int, RuleMatch, str]]:
        """Return the matches with the index of their line and the matched text."""
        before = (*self.state.last_lines, *new.before[-LINES_BEFORE:])[-LINES_BEFORE:]
        matches = self._matcher.match_lines(self._location, new.texts, lambda place: new.run.lines[place].at, before)
        return [(new.run.first + match.line, match, match.get_matched_text(new.texts)) for match in matches]

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
