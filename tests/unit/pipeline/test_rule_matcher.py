from termvisor.clock import NS
from termvisor.detection.scanner import RuleScan
from termvisor.model.ids import EpochId, PaneId, RuntimeId
from termvisor.pipeline.agent_presence import Stay
from termvisor.pipeline.rule_match import Place
from termvisor.pipeline.rule_matcher import Spotter
from tests.property.test_detections import rule

RULES = (rule("a.b", "^hit (?P<what>.*)", agent="codex"), rule("c.d", "^hit"))
PLACE = Place(pane=PaneId(1), epoch=EpochId(1), source="stream")
CODEX = Stay(runtime=RuntimeId(7), agent="codex", began_at=0)


def spotter(*stays: Stay) -> Spotter:
    made = Spotter(lambda: 50 * NS)
    made.use(RULES, RuleScan(RULES, engine="re2"))
    made.stays = lambda pane: stays
    return made


def spotted(made: Spotter):
    return made.spot(PLACE, ["miss", "hit me"], lambda line: 40 * NS + line)


def test_without_rules_nothing_is_found():
    made = Spotter()
    assert (made.spot(PLACE, ["hit"], lambda line: 1), made.spot_rows(PLACE, ["hit"], 1)) == ([], [])
    assert (made.spot_mark(PLACE, "hit", 1), made.hears_marks, made.rule("a.b")) == ([], False, None)


def test_who_is_there_owns_what_is_said():
    found = {spot.rule.id: spot.detection for spot in spotted(spotter(CODEX))}
    assert (found["a.b"].agent, found["a.b"].at, found["a.b"].captures) == ("codex", 40 * NS + 1, {"what": "me"})
    assert found["c.d"].runtime == 7


def test_what_is_about_somebody_who_is_not_there_waits_and_is_given_up():
    made = spotter()
    spots = spotted(made)
    assert {spot.rule.id: spot.detection is None for spot in spots} == {"a.b": True, "c.d": False}
    held = made.waiting(spots)
    assert [(one.rule, one.at) for one in held] == [("a.b", 50 * NS)]
    assert made.tried_again(held) == ([], held)
    made.now = lambda: 61 * NS
    assert made.tried_again(held) == ([], ())


def test_what_waited_is_owned_once_its_agent_is_there():
    made = spotter()
    held = made.waiting(spotted(made))
    made.stays = lambda pane: [CODEX]
    ready, left = made.tried_again(held)
    assert ([one.runtime for one in ready], left) == ([7], ())


def test_what_waits_for_a_rule_that_is_gone_is_given_up():
    made = spotter()
    held = made.waiting(spotted(made))
    made.use((), None)
    assert made.tried_again(held) == ([], ())
