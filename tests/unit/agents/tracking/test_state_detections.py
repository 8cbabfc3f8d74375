"""Detections from signals and screens, each when it is new."""

from msgspec.structs import replace

from termvisor.agents.tracking.state_detections import SIGNAL_RULES
from termvisor.agents.tracking.transition import TrackerState, compute_transition
from termvisor.clock import NS, format_timestamp
from termvisor.model.agent.agent_process import AgentExited
from termvisor.model.agent.signal import FlagUpdate
from termvisor.model.detection.detection import Detection
from termvisor.model.detection.rule import Rule
from termvisor.model.ids import PaneId
from termvisor.testing.fake_clock import NOON
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


def apply_facts(facts, state: TrackerState | None = None, seconds: float = 0):
    with_rules = replace(build_config(), find_rule=RULES.get)
    return compute_transition(state or TrackerState(), facts, NOON + int(seconds * NS), with_rules)


def list_detections(outcome):
    return [(one.rule, one.type, one.key) for one in outcome.batch.detections]


def test_a_limit_is_detected_once_with_its_reset_time():
    first = apply_facts([build_agent_started(NOON), build_signal(NOON, "running", flags=LIMITED)])
    (one,) = first.batch.detections
    assert (one.rule, one.type, one.key) == ("signal.usage_limited", "usage.reached", "usage.reached runtime:1")
    assert (one.captures, one.evidence["resets_at"]) == (
        {"resets_at": format_timestamp(NOON + 3600 * NS)},
        NOON + 3600 * NS,
    )
    assert (one.agent, one.runtime, one.source) == ("toy", ONE, "signal")
    again = apply_facts([build_signal(NOON + NS, "idle", flags=LIMITED)], first.state, 1)
    assert list_detections(again) == []


def test_a_limit_reached_again_is_detected_again():
    first = apply_facts([build_agent_started(NOON), build_signal(NOON, "running", flags=LIMITED)]).state
    over = apply_facts([build_signal(NOON + NS, "running", flags=FlagUpdate(usage_limited=False))], first, 1)
    assert list_detections(over) == []
    assert (
        len(list_detections(apply_facts([build_signal(NOON + 2 * NS, "running", flags=LIMITED)], over.state, 2))) == 1
    )


def test_a_compaction_is_detected_when_done():
    busy = apply_facts([build_agent_started(NOON), build_signal(NOON, "running", flags=FlagUpdate(compacting=True))])
    assert list_detections(busy) == []
    done = apply_facts([build_signal(NOON + NS, "running", flags=FlagUpdate(compacting=False))], busy.state, 1)
    assert list_detections(done) == [("signal.compacting", "session.compaction", "session.compaction runtime:1")]


def test_an_exit_during_a_compaction_is_not_detected_as_done():
    busy = apply_facts(
        [build_agent_started(NOON), build_signal(NOON, "running", flags=FlagUpdate(compacting=True))]
    ).state
    over = apply_facts([AgentExited(at=NOON + NS, runtime=ONE)], busy, 1)
    assert list_detections(over) == [("signal.session_ended", "session.summary", "session.summary runtime:1")]


def test_a_missing_login_is_detected():
    outcome = apply_facts([build_agent_started(NOON), build_signal(NOON, "error", flags=FlagUpdate(auth_needed=True))])
    assert list_detections(outcome) == [("signal.auth_needed", "auth.required", "auth.required runtime:1")]


def test_a_session_end_has_its_usage():
    used = {"total": 100, "input": 60, "cached": 10, "output": 30, "model": "toy-2"}
    known = apply_facts([build_agent_started(NOON), build_signal(NOON, "idle", session="abc", payload=used)]).state
    (one,) = apply_facts([AgentExited(at=NOON + NS, runtime=ONE)], known, 1).batch.detections
    assert one.captures | {"end_reason": ""} == {
        "session_id": "abc",
        "end_reason": "",
        "model": "toy-2",
        **{name: str(used[name]) for name in ("total", "input", "cached", "output")},
    }
    assert (one.at, one.severity) == (NOON + NS, "info")


def test_an_unproven_end_reason_is_left_out():
    busy = apply_facts([build_agent_started(NOON), build_signal(NOON, "running", session="abc")]).state
    (one,) = apply_facts([AgentExited(at=NOON + NS, runtime=ONE)], busy, 1).batch.detections
    assert one.captures == {"session_id": "abc"}
    rest = apply_facts([build_agent_started(NOON), build_signal(NOON, "idle", session="abc")]).state
    (one,) = apply_facts([AgentExited(at=NOON + NS, runtime=ONE)], rest, 1).batch.detections
    assert one.captures["end_reason"] == "manual"


def build_rule_signal(seconds: float, rule: str, **details):
    at = NOON + int(seconds * NS)
    return build_signal(at, "waiting_input", source="screen", tier="heuristic", payload={"rule": rule, **details})


def test_a_new_screen_rule_with_an_event_is_detected():
    first = apply_facts([build_agent_started(NOON), build_rule_signal(0, "toy.limit_shown", message="resets at 5")])
    (one,) = first.batch.detections
    assert (one.rule, one.type, one.key) == ("toy.limit_shown", "usage.reached", "usage.reached runtime:1")
    assert (one.captures, one.severity, one.cooldown) == ({"message": "resets at 5"}, "critical", 5.0)
    assert one.evidence["signal"] == first.batch.facts[1][0]
    assert list_detections(apply_facts([build_rule_signal(9, "toy.limit_shown")], first.state, 9)) == []
    other = apply_facts([build_rule_signal(10, "toy.at_rest")], first.state, 10)
    assert list_detections(other) == []
    assert len(list_detections(apply_facts([build_rule_signal(99, "toy.limit_shown")], other.state, 99))) == 1


def test_every_signal_rule_has_a_type():
    assert [rule.rule for rule in SIGNAL_RULES] == [
        "signal.usage_limited",
        "signal.compacting",
        "signal.auth_needed",
        "signal.session_ended",
    ]


def test_a_screen_rule_becomes_a_whole_detection():
    shown = build_signal(
        NOON, "running", source="screen", tier="heuristic", flags=LIMITED, confidence=0.9,
        payload={"rule": "toy.limit_shown", "plan": "pro", "empty": "", "none": None},
    )  # fmt: skip
    outcome = apply_facts([build_agent_started(NOON), shown])
    (found,) = [one for one in outcome.batch.detections if one.source == "screen"]
    assert found == Detection(
        at=NOON,
        type="usage.reached",
        rule="toy.limit_shown",
        pane=PaneId(1),
        runtime=ONE,
        agent="toy",
        severity="critical",
        captures={"plan": "pro"},
        source="screen",
        evidence={"signal": 2, "source": "screen", "resets_at": LIMITED.resets_at},
        context="pro",
        confidence=0.9,
        cooldown=5.0,
        key="usage.reached runtime:1",
    )
