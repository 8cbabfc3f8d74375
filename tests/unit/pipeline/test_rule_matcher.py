from termvisor.clock import NS
from termvisor.detection.scanner import RuleScanner
from termvisor.model.ids import EpochId, PaneId, RuntimeId
from termvisor.pipeline.agent_presence import AgentPresence
from termvisor.pipeline.rule_match import TextLocation
from termvisor.pipeline.rule_matcher import RuleMatcher
from tests.property.test_detections import rule

RULES = (rule("a.b", "^hit (?P<what>.*)", agent="codex"), rule("c.d", "^hit"))
PLACE = TextLocation(pane=PaneId(1), epoch=EpochId(1), source="stream")
CODEX = AgentPresence(agent_process=RuntimeId(7), agent="codex", began_at=0)


def spotter(*stays: AgentPresence) -> RuleMatcher:
    made = RuleMatcher(lambda: 50 * NS)
    made.set_rules(RULES, RuleScanner(RULES, engine="re2"))
    made.find_presences = lambda pane: stays
    return made


def spotted(made: RuleMatcher):
    return made.match_lines(PLACE, ["miss", "hit me"], lambda line: 40 * NS + line)


def test_without_rules_nothing_is_found():
    made = RuleMatcher()
    assert (made.match_lines(PLACE, ["hit"], lambda line: 1), made.match_rows(PLACE, ["hit"], 1)) == ([], [])
    assert (made.match_mark(PLACE, "hit", 1), made.has_mark_rules, made.find_rule("a.b")) == ([], False, None)


def test_who_is_there_owns_what_is_said():
    found = {spot.rule.id: spot.detection for spot in spotted(spotter(CODEX))}
    assert (found["a.b"].agent, found["a.b"].at, found["a.b"].captures) == ("codex", 40 * NS + 1, {"what": "me"})
    assert found["c.d"].runtime == 7


def test_what_is_about_somebody_who_is_not_there_waits_and_is_given_up():
    made = spotter()
    spots = spotted(made)
    assert {spot.rule.id: spot.detection is None for spot in spots} == {"a.b": True, "c.d": False}
    held = made.list_pending(spots)
    assert [(one.rule_id, one.read_at) for one in held] == [("a.b", 50 * NS)]
    assert made.retry_pending(held) == ([], held)
    made.now = lambda: 61 * NS
    assert made.retry_pending(held) == ([], ())


def test_what_waited_is_owned_once_its_agent_is_there():
    made = spotter()
    held = made.list_pending(spotted(made))
    made.find_presences = lambda pane: [CODEX]
    ready, left = made.retry_pending(held)
    assert ([one.runtime for one in ready], left) == ([7], ())


def test_what_waits_for_a_rule_that_is_gone_is_given_up():
    made = spotter()
    held = made.list_pending(spotted(made))
    made.set_rules((), None)
    assert made.retry_pending(held) == ([], ())
