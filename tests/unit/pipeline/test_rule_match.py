from datetime import UTC, datetime

import pytest

from termvisor.clock import NS
from termvisor.detection.scanner import ScanMatch
from termvisor.model.ids import EpochId, PaneId, RuntimeId
from termvisor.pipeline.agent_presence import AgentPresence
from termvisor.pipeline.rule_match import TextLocation, assign_agent, build_detection, find_limit_end
from tests.property.test_detections import rule

PLACE = TextLocation(pane=PaneId(1), epoch=EpochId(3), source="stream")
RULE = rule("a.b", "x", agent="codex", cooldown=60.0)
NOON = int(datetime(2026, 1, 1, 12, tzinfo=UTC).timestamp()) * NS


def at(lines, line, **captures):
    return build_detection(PLACE, ScanMatch(RULE, line, 0, 1, captures), lines, line, NOON)


def test_the_context_is_the_line_and_what_stands_above_it():
    assert at(["0", "1", "2", "3", "x", "5"], 4).context == "1\n2\n3\nx"
    assert at(["x"], 0).context == "x"


def test_the_context_is_bounded_and_the_line_is_cut_last():
    assert at(["a" * 400, "b" * 300], 1).context == "a" * 199 + "\n" + "b" * 300
    assert at(["a", "b" * 900], 1).context == "b" * 500


def test_captures_are_bounded():
    assert len(at(["x"], 0, what="y" * 1000).captures["what"]) == 400


def test_a_redraw_has_the_same_trace_and_another_place_has_not():
    assert at(["a", "b ", "x"], 2).trace == at(["  a", "b", "x"], 2).trace
    assert at(["a", "b", "x"], 2).trace != at(["a", "c", "x"], 2).trace


@pytest.mark.parametrize(
    ("words", "hour"),
    [("3pm (UTC)", 15), ("3pm (Europe/Berlin)", 14), ("in 2h", 14), ("soon", None), ("3pm (Mars/X)", None)],
)
def test_words_that_say_when_a_limit_ends_are_read(words, hour):
    ends = find_limit_end({"resets_at": words}, NOON)
    assert ends == (None if hour is None else NOON + (hour - 12) * 3600 * NS)


def test_a_span_that_is_captured_without_its_word_is_read_as_one():
    assert find_limit_end({"try_again_in": "3 days 2 hours"}, NOON) == NOON + 74 * 3600 * NS


def test_whose_it_is_makes_its_key_and_only_who_draws_redraws():
    found = at(["x"], 0, left="5")
    stay = AgentPresence(agent_process=RuntimeId(7), agent="codex", began_at=0)
    mine, nobodys = assign_agent(found, RULE, stay), assign_agent(found, RULE, None)
    assert (mine.runtime, mine.agent, mine.key, bool(mine.trace)) == (7, "codex", "a.b codex left=5", True)
    assert (nobodys.runtime, nobodys.agent, nobodys.trace) == (None, "codex", "")
