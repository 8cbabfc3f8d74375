"""What an agent says of itself, and what its screen shows, becomes detections: each when it is new."""

from msgspec.structs import replace

from termvisor.agents.tracking.state_detections import SIGNAL_RULES
from termvisor.agents.tracking.transition import TrackerState, compute_transition
from termvisor.clock import NS, format_timestamp
from termvisor.model.agent.agent_process import AgentExited
from termvisor.model.agent.signal import FlagUpdate
from termvisor.model.detection.rule import Rule
from termvisor.testing.fake_services import NOON
from tests.unit.agents.tracking.tracker_scene import ONE, build_agent_started, build_config, build_signal

LIMITED = FlagUpdate(usage_limited=True, resets_at=NOON + 3600 * NS)
RULES = {
    "toy.limit_shown": Rule(
        id="toy.limit_shown",
        since="0",
        agent="toy",
        scope="screen",
        part="dialog",
        pattern="limit",
        event="usage.reached",
        severity="critical",
        cooldown=5.0,
        why="for this test",
        hits=(),
        misses=(),
    ),
}


def turn(facts, standing: TrackerState | None = None, seconds: float = 0):
    with_rules = replace(build_config(), rules=RULES.get)
    return compute_transition(standing or TrackerState(), facts, NOON + int(seconds * NS), with_rules)


def told(outcome):
    return [(one.rule, one.type, one.key) for one in outcome.turn.detections]


def test_a_limit_is_noticed_once_with_its_end():
    first = turn([build_agent_started(NOON), build_signal(NOON, "running", flags=LIMITED)])
    (one,) = first.turn.detections
    assert (one.rule, one.type, one.key) == ("signal.usage_limited", "usage.reached", "usage.reached runtime:1")
    assert (one.captures, one.evidence["resets_at"]) == (
        {"resets_at": format_timestamp(NOON + 3600 * NS)},
        NOON + 3600 * NS,
    )
    assert (one.agent, one.runtime, one.source) == ("toy", ONE, "signal")
    again = turn([build_signal(NOON + NS, "idle", flags=LIMITED)], first.state, 1)
    assert told(again) == []


def test_a_limit_that_is_reached_anew_is_noticed_anew():
    first = turn([build_agent_started(NOON), build_signal(NOON, "running", flags=LIMITED)]).state
    over = turn([build_signal(NOON + NS, "running", flags=FlagUpdate(usage_limited=False))], first, 1)
    assert told(over) == []
    assert len(told(turn([build_signal(NOON + 2 * NS, "running", flags=LIMITED)], over.state, 2))) == 1


def test_a_compaction_is_noticed_when_it_is_done():
    busy = turn([build_agent_started(NOON), build_signal(NOON, "running", flags=FlagUpdate(compacting=True))])
    assert told(busy) == []
    done = turn([build_signal(NOON + NS, "running", flags=FlagUpdate(compacting=False))], busy.state, 1)
    assert told(done) == [("signal.compacting", "session.compaction", "session.compaction runtime:1")]


def test_an_agent_that_ends_in_a_compaction_did_not_finish_it():
    busy = turn([build_agent_started(NOON), build_signal(NOON, "running", flags=FlagUpdate(compacting=True))]).state
    over = turn([AgentExited(at=NOON + NS, runtime=ONE)], busy, 1)
    assert told(over) == [("signal.session_ended", "session.summary", "session.summary runtime:1")]


def test_a_missing_login_is_noticed():
    outcome = turn([build_agent_started(NOON), build_signal(NOON, "error", flags=FlagUpdate(auth_needed=True))])
    assert told(outcome) == [("signal.auth_needed", "auth.required", "auth.required runtime:1")]


def test_the_end_of_a_session_tells_what_it_used():
    used = {"total": 100, "input": 60, "cached": 10, "output": 30, "model": "toy-2"}
    known = turn([build_agent_started(NOON), build_signal(NOON, "idle", session="abc", payload=used)]).state
    (one,) = turn([AgentExited(at=NOON + NS, runtime=ONE)], known, 1).turn.detections
    assert one.captures | {"end_reason": ""} == {
        "session_id": "abc",
        "end_reason": "",
        "model": "toy-2",
        **{name: str(used[name]) for name in ("total", "input", "cached", "output")},
    }
    assert (one.at, one.severity) == (NOON + NS, "info")


def test_an_end_whose_reason_is_only_guessed_tells_none():
    busy = turn([build_agent_started(NOON), build_signal(NOON, "running", session="abc")]).state
    (one,) = turn([AgentExited(at=NOON + NS, runtime=ONE)], busy, 1).turn.detections
    assert one.captures == {"session_id": "abc"}
    rest = turn([build_agent_started(NOON), build_signal(NOON, "idle", session="abc")]).state
    (one,) = turn([AgentExited(at=NOON + NS, runtime=ONE)], rest, 1).turn.detections
    assert one.captures["end_reason"] == "completed"


def look(seconds: float, rule: str, **details):
    at = NOON + int(seconds * NS)
    return build_signal(at, "waiting_input", source="screen", tier="heuristic", payload={"rule": rule, **details})


def test_a_screen_that_newly_shows_a_rule_with_an_event_is_noticed():
    first = turn([build_agent_started(NOON), look(0, "toy.limit_shown", message="resets at 5")])
    (one,) = first.turn.detections
    assert (one.rule, one.type, one.key) == ("toy.limit_shown", "usage.reached", "usage.reached runtime:1")
    assert (one.captures, one.severity, one.cooldown) == ({"message": "resets at 5"}, "critical", 5.0)
    assert one.evidence["signal"] == first.turn.facts[1][0]
    assert told(turn([look(9, "toy.limit_shown")], first.state, 9)) == []
    other = turn([look(10, "toy.at_rest")], first.state, 10)
    assert told(other) == []
    assert len(told(turn([look(99, "toy.limit_shown")], other.state, 99))) == 1


def test_every_word_of_an_agent_has_a_name_and_a_meaning():
    assert [notice.rule for notice in SIGNAL_RULES] == [
        "signal.usage_limited",
        "signal.compacting",
        "signal.auth_needed",
        "signal.session_ended",
    ]
