"""The explanation of a state: the role of each source, and what would change it."""

import pytest

from termvisor.agents.state.explain import explain_state
from termvisor.agents.state.reducer import AgentKnowledge, apply_facts
from termvisor.model.agent.agent_process import OutputMissed, TargetReachability
from termvisor.model.agent.signal import FlagUpdate, ProcessHint
from termvisor.model.ids import PaneId
from tests.builtin_thresholds import DEFAULT_THRESHOLDS
from tests.unit.agents.state.signal_scene import (
    LOCAL,
    ONE,
    SECOND_NS,
    build_agent_process,
    build_agent_started,
    build_idle_screens,
    build_knowledge,
    build_screen_signal,
    build_signal,
    build_working_screens,
    to_ns,
)


def explain(seconds: float, *facts):
    return explain_state(build_knowledge(*facts), ONE, to_ns(seconds), DEFAULT_THRESHOLDS)


def list_roles(seconds: float, *facts) -> dict[str, str]:
    return {one.source: one.role for one in explain(seconds, *facts).testimonies}


SCENES = [
    (
        3,
        [build_signal(1, "registry", "running"), build_signal(2, "hook", "running")],
        {"registry": "decides", "hook": "agrees"},
    ),
    (
        3,
        [build_signal(1, "registry", "idle"), build_signal(2, "hook", "running")],
        {"registry": "decides", "hook": "suppressed"},
    ),
    (
        9,
        [build_signal(0, "registry", "idle"), build_working_screens(2, 8)],
        {"registry": "decides", "screen": "contradicts"},
    ),
    (
        30,
        [build_signal(0, "hook", "running"), build_idle_screens(2, 8, 20)],
        {"hook": "overtaken", "screen": "decides"},
    ),
    (3, [build_signal(0, "hook", "running"), build_idle_screens(2)], {"hook": "decides", "screen": "unsettled"}),
    (700, [build_signal(0, "hook", "running")], {"hook": "stale"}),
    (2, [build_signal(0, "hook", "running"), build_signal(1, "hook", kind="source_down")], {"hook": "down"}),
    (9, [build_signal(0, "osc", "running"), OutputMissed(at=to_ns(5), pane=PaneId(7))], {"osc": "gap"}),
    (2, [build_signal(1, "hook"), build_signal(1, "registry", "idle")], {"hook": "silent", "registry": "decides"}),
    (
        3,
        [build_signal(1, "hook", "running"), build_screen_signal(2, "unknown")],
        {"hook": "decides", "screen": "silent"},
    ),
    (5.1, [build_signal(1, "registry", "running"), build_signal(5, "registry", "idle")], {"registry": "decides"}),
]


@pytest.mark.parametrize(("seconds", "facts", "expected"), SCENES)
def test_every_source_has_a_role(seconds: float, facts: list, expected: dict[str, str]) -> None:
    assert list_roles(seconds, *facts) == expected


def test_evidence_has_an_age() -> None:
    explanation = explain(9, build_signal(1, "hook", "running"), build_signal(5, "hook"))
    (hook,) = explanation.testimonies
    assert (hook.said, hook.evidence, hook.since, hook.age) == ("running", 1000, to_ns(1), 4 * SECOND_NS)
    assert (explanation.age, explanation.state.value) == (8 * SECOND_NS, "running")


def list_expected_changes(seconds: float, *facts) -> dict[str, int | None]:
    return {one.what: one.at for one in explain(seconds, *facts).would_change}


def test_expected_changes_are_listed() -> None:
    assert list_expected_changes(1, build_signal(0, "hook", "completed")) == {
        "hook, or a source of a better rank, reports another state": None,
        "becomes idle": to_ns(120),
        "hook sends no signal": to_ns(600) + 1,
    }
    assert list_expected_changes(
        1, build_signal(0, "hook", "error", flags=FlagUpdate(usage_limited=True, resets_at=to_ns(60)))
    )["the usage limit ends"] == to_ns(60)
    assert "the sub-tasks end" in list_expected_changes(1, build_signal(0, "hook", "completed", tasks=("a",)))


def test_expected_changes_of_an_unknown_state() -> None:
    away = TargetReachability(at=to_ns(1), target=LOCAL, is_reachable=False)
    assert list_expected_changes(2, build_screen_signal(1, "unknown")) == {"any source reports a state": None}
    assert list_expected_changes(2, build_signal(0, "hook", "running"), away) == {
        "the target becomes reachable again": None
    }
    assert explain(2, build_screen_signal(1, "unknown")).age is None


def test_unproven_evidence_is_listed():
    doubtful = build_signal(
        1, "transcript", "error", runtime=None, hint=ProcessHint(cwd="/home/ada/src", is_doubtful=True), session="a"
    )
    explanation = explain(2, doubtful)
    (doubt,) = explanation.doubts
    assert "processes worked in /home/ada/src" in doubt
    assert explanation.state.flags.ambiguous
    assert explain(2, build_signal(1, "hook", "running")).doubts == ()
    shown = explain(3, doubtful, build_signal(2, "hook", "running", session="a"))
    assert (shown.doubts, shown.state.flags.ambiguous) == ((), False)


def test_a_remote_agent_is_known_by_its_screen_only():
    known = apply_facts(AgentKnowledge(), [build_agent_started(0, build_agent_process(pid=0))], DEFAULT_THRESHOLDS)
    (doubt,) = explain_state(known, ONE, to_ns(1), DEFAULT_THRESHOLDS).doubts
    assert "the agent runs remotely" in doubt
