"""Detections from signals and screens, each when it is new."""

import pytest
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
RULES["toy.code_shown"] = replace(RULES["toy.limit_shown"], id="toy.code_shown", event="auth.device_code")


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


def test_a_screen_rule_that_captures_something_else_is_detected_again():
    first = apply_facts([build_agent_started(NOON), build_rule_signal(0, "toy.code_shown", code="ABCD-1234")])
    assert [one.captures for one in first.batch.detections] == [{"code": "ABCD-1234"}]
    same = apply_facts([build_rule_signal(9, "toy.code_shown", code="ABCD-1234")], first.state, 9)
    hidden = apply_facts([build_rule_signal(10, "toy.code_shown")], same.state, 10)
    shown = apply_facts([build_rule_signal(11, "toy.code_shown", code="ABCD-1234")], hidden.state, 11)
    assert [list_detections(one) for one in (same, hidden, shown)] == [[], [], []]
    other = apply_facts([build_rule_signal(12, "toy.code_shown", code="WXYZ-9876")], shown.state, 12)
    (one,) = other.batch.detections
    assert (one.captures, one.key) == ({"code": "WXYZ-9876"}, "auth.device_code toy code=WXYZ-9876")
    assert one.evidence["signal"] == other.batch.facts[0][0]


def test_the_version_beside_a_screen_is_no_capture():
    """A rule for lines may detect the same code, and both must have the same key."""
    shown = build_rule_signal(0, "toy.code_shown", code="ABCD-1234", version="1.2.3")
    (one,) = apply_facts([build_agent_started(NOON), shown]).batch.detections
    assert (one.captures, one.key) == ({"code": "ABCD-1234"}, "auth.device_code toy code=ABCD-1234")


def test_a_limit_whose_message_changes_stays_one_detection():
    first = apply_facts([build_agent_started(NOON), build_rule_signal(0, "toy.limit_shown", message="in 5 hours")])
    other = apply_facts([build_rule_signal(9, "toy.limit_shown", message="in 4 hours")], first.state, 9)
    assert list_detections(other) == []


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


def build_login_signal(seconds: float, rule: str):
    return replace(build_rule_signal(seconds, rule), flags=FlagUpdate(auth_needed=True))


def test_a_login_that_the_screen_shows_is_one_event():
    outcome = apply_facts([build_agent_started(NOON), build_login_signal(0, "toy.code_shown")])
    assert outcome.changes[-1].after.flags.auth_needed
    assert [one.type for one in outcome.batch.detections] == ["auth.device_code"]


def test_a_login_that_the_agent_reports_too_is_detected():
    own = build_signal(NOON, "error", flags=FlagUpdate(auth_needed=True))
    outcome = apply_facts([build_agent_started(NOON), build_login_signal(0, "toy.code_shown"), own])
    assert [one.type for one in outcome.batch.detections] == ["auth.device_code", "auth.required"]


def build_own_detection(at: int, rule: str, kind: str, severity: str, **fields) -> Detection:
    agent = {"pane": PaneId(1), "runtime": ONE, "agent": "toy", "source": "signal", "key": f"{kind} runtime:1"}
    return Detection(at=at, type=kind, rule=rule, severity=severity, **agent, **fields)


@pytest.mark.parametrize(
    ("first", "then", "expected"),
    [
        (
            {},
            {"usage_limited": True},
            build_own_detection(NOON, "signal.usage_limited", "usage.reached", "error"),
        ),
        (
            {"compacting": True},
            {"compacting": False},
            build_own_detection(NOON, "signal.compacting", "session.compaction", "warning"),
        ),
        ({}, {"auth_needed": True}, build_own_detection(NOON, "signal.auth_needed", "auth.required", "error")),
    ],
)
def test_a_changed_flag_becomes_a_whole_detection(first, then, expected):
    known = apply_facts([build_agent_started(NOON), build_signal(NOON, "running", flags=FlagUpdate(**first))]).state
    outcome = apply_facts([build_signal(NOON + NS, "running", flags=FlagUpdate(**then))], known, 1)
    assert outcome.batch.detections == [
        replace(expected, at=NOON + NS, evidence={"signal": outcome.batch.facts[0][0], "source": "osc"})
    ]


def test_a_session_end_becomes_a_whole_detection():
    used = {"total": 9, "input": 4, "cached": 1, "output": 5, "reasoning": 2, "cost": 0.5, "model": "toy-2"}
    signal = build_signal(NOON, "idle", session="abc", payload=used, title="t" * 600)
    known = apply_facts([build_agent_started(NOON), signal]).state
    (found,) = apply_facts([AgentExited(at=NOON + NS, runtime=ONE, exit_code=0)], known, 1).batch.detections
    captures = {"session_id": "abc", "end_reason": "manual", **{name: str(value) for name, value in used.items()}}
    assert found == build_own_detection(
        NOON + NS,
        "signal.session_ended",
        "session.summary",
        "info",
        captures=captures,
        evidence={"session": 1},
        context="t" * 500,
    )


def test_a_session_that_another_follows_is_detected_as_ended():
    known = apply_facts([build_agent_started(NOON), build_signal(NOON, "running", session="a")]).state
    outcome = apply_facts([build_signal(NOON + NS, "running", session="b")], known, 1)
    assert [(one.type, one.captures["session_id"]) for one in outcome.batch.detections] == [("session.summary", "a")]


@pytest.mark.parametrize("rule", [7, None, "toy.unknown"])
def test_a_screen_without_a_known_rule_is_not_detected(rule):
    assert list_detections(apply_facts([build_agent_started(NOON), build_rule_signal(0, rule)])) == []


def test_a_rule_without_an_event_is_not_detected(monkeypatch):
    monkeypatch.setitem(RULES, "toy.silent", replace(RULES["toy.limit_shown"], id="toy.silent", event=""))
    assert list_detections(apply_facts([build_agent_started(NOON), build_rule_signal(0, "toy.silent")])) == []


def test_the_captures_of_a_screen_are_its_context():
    shown = build_rule_signal(0, "toy.limit_shown", first="a" * 300, second="b" * 300)
    (found,) = apply_facts([build_agent_started(NOON), shown]).batch.detections
    assert found.context == "a" * 300 + "\n" + "b" * 199


@pytest.mark.parametrize("rule", ["", "toy.unknown"])
def test_a_login_that_no_rule_reports_is_detected(rule):
    shown = build_login_signal(0, rule)
    outcome = apply_facts([build_agent_started(NOON), shown])
    assert [one.type for one in outcome.batch.detections] == ["auth.required"]


def test_a_rule_of_a_source_that_reports_no_login_does_not_hide_one():
    shown, own = build_rule_signal(0, "toy.code_shown"), build_signal(NOON, "error", flags=FlagUpdate(auth_needed=True))
    outcome = apply_facts([build_agent_started(NOON), shown, own])
    assert [one.type for one in outcome.batch.detections] == ["auth.device_code", "auth.required"]
