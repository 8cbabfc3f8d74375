"""Match rules against text, assign matches to agents, and build detections."""

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.detection.scanner import RuleScanner, ScanMatch
from termvisor.model.agent.session import TranscriptMessage
from termvisor.model.detection.detection import Detection
from termvisor.model.ids import EpochId, PaneId, RuntimeId
from termvisor.pipeline.rule_matcher import (
    AgentPresence,
    RuleMatcher,
    TextLocation,
    assign_agent,
    build_detection,
    find_limit_end,
)
from tests.property.test_detections import rule

RULES = (rule("a.b", "^hit (?P<what>.*)", agent="codex"), rule("c.d", "^hit"))
STREAM = TextLocation(pane=PaneId(1), epoch=EpochId(1), source="stream")
CODEX = AgentPresence(agent_process=RuntimeId(7), agent="codex", began_at=0)


def build_matcher(*presences: AgentPresence) -> RuleMatcher:
    matcher = RuleMatcher(lambda: 50 * NS)
    matcher.set_rules(RULES, RuleScanner(RULES, engine="re2"))
    matcher.find_presences = lambda pane: presences
    return matcher


def match_sample(matcher: RuleMatcher):
    return matcher.match_lines(STREAM, ["miss", "hit me"], lambda line: 40 * NS + line)


def test_without_rules_nothing_is_found():
    matcher = RuleMatcher()
    assert (matcher.match_lines(STREAM, ["hit"], lambda line: 1), matcher.match_rows(STREAM, ["hit"], 1)) == ([], [])
    assert (matcher.match_mark(STREAM, "hit", 1), matcher.has_mark_rules, matcher.find_rule("a.b")) == ([], False, None)


def test_a_match_belongs_to_the_agent_present():
    found = {match.rule.id: match.detection for match in match_sample(build_matcher(CODEX))}
    assert (found["a.b"].agent, found["a.b"].at, found["a.b"].captures) == ("codex", 40 * NS + 1, {"what": "me"})
    assert found["c.d"].runtime == 7


def test_a_match_without_its_agent_stays_pending_and_expires():
    matcher = build_matcher()
    matches = match_sample(matcher)
    assert {match.rule.id: match.detection is None for match in matches} == {"a.b": True, "c.d": False}
    pending = matcher.list_pending(matches)
    assert [(detection.rule_id, detection.read_at) for detection in pending] == [("a.b", 50 * NS)]
    assert matcher.retry_pending(pending) == ([], pending)
    matcher.now = lambda: 61 * NS
    assert matcher.retry_pending(pending) == ([], ())


def test_pending_matches_get_their_agent():
    matcher = build_matcher()
    pending = matcher.list_pending(match_sample(matcher))
    matcher.find_presences = lambda pane: [CODEX]
    ready, left = matcher.retry_pending(pending)
    assert ([detection.runtime for detection in ready], left) == ([7], ())


def test_pending_matches_of_a_removed_rule_are_dropped():
    matcher = build_matcher()
    pending = matcher.list_pending(match_sample(matcher))
    matcher.set_rules((), None)
    assert matcher.retry_pending(pending) == ([], ())


LOCATION = TextLocation(pane=PaneId(1), epoch=EpochId(3), source="stream")
RULE = replace(rule("a.b", "x", agent="codex", cooldown=60.0), severity="warning", confidence=0.5)
NOON = int(datetime(2026, 1, 1, 12, tzinfo=UTC).timestamp()) * NS


def detect(lines, line, **captures):
    return build_detection(LOCATION, ScanMatch(RULE, line, 0, 1, captures), lines, line, NOON)


def test_the_context_is_the_line_and_the_lines_above():
    assert detect(["0", "1", "2", "3", "x", "5"], 4).context == "1\n2\n3\nx"
    assert detect(["x"], 0).context == "x"


def test_the_context_is_bounded_and_the_line_is_cut_last():
    assert detect(["a" * 400, "b" * 300], 1).context == "a" * 199 + "\n" + "b" * 300
    assert detect(["a", "b" * 900], 1).context == "b" * 500


def test_captures_are_bounded():
    assert len(detect(["x"], 0, what="y" * 1000).captures["what"]) == 400


def test_a_redraw_has_the_same_trace_and_another_line_has_not():
    assert detect(["a", "b ", "x"], 2).trace == detect(["  a", "b", "x"], 2).trace
    assert detect(["a", "b", "x"], 2).trace != detect(["a", "c", "x"], 2).trace


@pytest.mark.parametrize(
    ("text", "hour"),
    [("3pm (UTC)", 15), ("3pm (Europe/Berlin)", 14), ("in 2h", 14), ("soon", None), ("3pm (Mars/X)", None)],
)
def test_reset_times_are_parsed(text, hour):
    ends = find_limit_end({"resets_at": text}, NOON)
    assert ends == (None if hour is None else NOON + (hour - 12) * 3600 * NS)


def test_a_duration_captured_without_its_preposition_is_parsed():
    assert find_limit_end({"try_again_in": "3 days 2 hours"}, NOON) == NOON + 74 * 3600 * NS


def test_the_agent_is_part_of_the_key_and_only_agents_redraw():
    found = detect(["x"], 0, left="5")
    presence = AgentPresence(agent_process=RuntimeId(7), agent="codex", began_at=0)
    owned, unowned = assign_agent(found, RULE, presence), assign_agent(found, RULE, None)
    assert (owned.runtime, owned.agent, owned.key, bool(owned.trace)) == (7, "codex", "a.b codex left=5", True)
    assert (unowned.runtime, unowned.agent, unowned.trace) == (None, "codex", "")


def test_a_detection_says_everything_about_its_match():
    found = detect(["above", "x"], 1, resets_at="in 2h")
    assert found == Detection(
        at=NOON,
        type=RULE.event,
        rule="a.b",
        pane=PaneId(1),
        severity="warning",
        captures={"resets_at": "in 2h"},
        source="stream",
        evidence={"epoch": 3, "start": 0, "end": 1, "resets_at": NOON + 2 * 3600 * NS},
        context="above\nx",
        confidence=0.5,
        cooldown=60.0,
        trace=found.trace,
    )
    general = rule("c.d", "x", cooldown=60.0)
    assert build_detection(LOCATION, ScanMatch(general, 0, 0, 1, {}), ["x"], 0, NOON).trace == ""


@pytest.mark.parametrize(
    ("captures", "hours"),
    [({"try_again_at": "3pm (UTC)"}, 3), ({"resets_at": "in 1h", "try_again_in": "2h"}, 1), ({"what": "in 1h"}, None)],
)
def test_the_end_of_a_limit_is_found_in_its_captures_only(captures, hours):
    assert find_limit_end(captures, NOON) == (None if hours is None else NOON + hours * 3600 * NS)


def test_a_message_of_a_transcript_belongs_to_its_agent():
    matcher = RuleMatcher()
    message = TranscriptMessage(
        key="k",
        at=NOON,
        agent="codex",
        session="s",
        role="user",
        text="miss\nhit me",
        pane=PaneId(1),
        runtime=RuntimeId(7),
    )
    assert matcher.detect_in_message(message) == []
    other = rule("e.f", "^hit", agent="gemini")
    matcher.transcript_scanner = RuleScanner((*RULES, other), engine="re2")
    found = {one.rule: one for one in matcher.detect_in_message(message)}
    assert sorted(found) == ["a.b", "c.d"]
    one = found["a.b"]
    assert (one.pane, one.source, one.runtime, one.agent, one.at) == (1, "transcript", 7, "codex", NOON)
    origin = {"session": "s", "said": "k", "role": "user"}
    assert (one.evidence, one.context) == ({"epoch": 0, "start": 0, "end": 6, **origin}, "miss\nhit me")


def test_a_match_that_came_back_has_no_trace():
    (match,) = (one for one in match_sample(build_matcher(CODEX)) if one.rule.id == "a.b")
    dropped = match.drop_trace()
    assert (bool(match.detection.trace), bool(match.unowned_detection.trace)) == (True, True)
    assert (dropped.detection.trace, dropped.unowned_detection.trace) == ("", "")
    (unowned,) = (one for one in match_sample(build_matcher()) if one.rule.id == "a.b")
    assert unowned.drop_trace().detection is None
    assert match.get_matched_text(["miss", "hit me"]) == "hit me"


def test_only_the_latest_pending_matches_are_kept():
    matcher = build_matcher()
    (one,) = matcher.list_pending(match_sample(matcher))
    many = tuple(type(one)(one.read_at + number, one.rule_id, one.detection) for number in range(20))
    assert matcher.retry_pending(many) == ([], many[-16:])
    matcher.now = lambda: 60 * NS
    assert matcher.retry_pending((one,)) == ([], ())
