"""Why a state is what it is: everybody's word, and what became of it."""

import pytest

from termvisor.agents.state.explain import explain
from termvisor.agents.state.reducer import Knowledge, told
from termvisor.model.agent.agent_process import PaneMissed, TargetReached
from termvisor.model.agent.signal import FlagsTold, Hint
from termvisor.model.ids import PaneId
from tests.declared import DEFAULT
from tests.unit.agents.state.scene import LOCAL, ONE, S, at, began, knowing, resting, runtime, says, shows, working


def why(seconds: float, *facts):
    return explain(knowing(*facts), ONE, at(seconds), DEFAULT)


def roles(seconds: float, *facts) -> dict[str, str]:
    return {one.source: one.role for one in why(seconds, *facts).testimonies}


SCENES = [
    (3, [says(1, "registry", "running"), says(2, "hook", "running")], {"registry": "decides", "hook": "agrees"}),
    (3, [says(1, "registry", "idle"), says(2, "hook", "running")], {"registry": "decides", "hook": "suppressed"}),
    (9, [says(0, "registry", "idle"), working(2, 8)], {"registry": "decides", "screen": "contradicts"}),
    (30, [says(0, "hook", "running"), resting(2, 8, 20)], {"hook": "overtaken", "screen": "decides"}),
    (3, [says(0, "hook", "running"), resting(2)], {"hook": "decides", "screen": "unsettled"}),
    (700, [says(0, "hook", "running")], {"hook": "stale"}),
    (2, [says(0, "hook", "running"), says(1, "hook", kind="source_down")], {"hook": "down"}),
    (9, [says(0, "osc", "running"), PaneMissed(at=at(5), pane=PaneId(7))], {"osc": "gap"}),
    (2, [says(1, "hook"), says(1, "registry", "idle")], {"hook": "silent", "registry": "decides"}),
    (3, [says(1, "hook", "running"), shows(2, "unknown")], {"hook": "decides", "screen": "silent"}),
    (5.1, [says(1, "registry", "running"), says(5, "registry", "idle")], {"registry": "decides"}),
]


@pytest.mark.parametrize(("seconds", "facts", "expected"), SCENES)
def test_everybody_has_a_part(seconds: float, facts: list, expected: dict[str, str]) -> None:
    assert roles(seconds, *facts) == expected


def test_the_evidence_is_named_with_its_age() -> None:
    told = why(9, says(1, "hook", "running"), says(5, "hook"))
    (hook,) = told.testimonies
    assert (hook.said, hook.evidence, hook.since, hook.age) == ("running", 1000, at(1), 4 * S)
    assert (told.age, told.state.value) == (8 * S, "running")


def prospects(seconds: float, *facts) -> dict[str, int | None]:
    return {one.what: one.at for one in why(seconds, *facts).would_change}


def test_it_says_what_would_change_it() -> None:
    assert prospects(1, says(0, "hook", "completed")) == {
        "hook says something else, or a source of a better rank does": None,
        "becomes idle": at(120),
        "hook stays silent": at(600) + 1,
    }
    assert prospects(1, says(0, "hook", "error", flags=FlagsTold(usage_limited=True, resets_at=at(60))))[
        "the usage limit ends"
    ] == at(60)
    assert "the sub-tasks end" in prospects(1, says(0, "hook", "completed", tasks=("a",)))


def test_also_of_what_is_not_known() -> None:
    away = TargetReached(at=at(1), target=LOCAL, is_reachable=False)
    assert prospects(2, shows(1, "unknown")) == {"any source says what the agent is doing": None}
    assert prospects(2, says(0, "hook", "running"), away) == {"the machine answers again": None}
    assert why(2, shows(1, "unknown")).age is None


def test_what_is_not_proven_is_said():
    doubtful = says(
        1, "transcript", "error", runtime=None, hint=Hint(cwd="/home/ada/src", is_doubtful=True), session="a"
    )
    told = why(2, doubtful)
    (doubt,) = told.doubts
    assert "more than one of it worked in /home/ada/src" in doubt
    assert told.state.flags.ambiguous
    assert why(2, says(1, "hook", "running")).doubts == ()
    shown = why(3, doubtful, says(2, "hook", "running", session="a"))
    assert (shown.doubts, shown.state.flags.ambiguous) == ((), False)


def test_an_agent_on_the_other_side_is_known_by_its_screen_alone():
    known = told(Knowledge(), [began(0, runtime(pid=0))], DEFAULT)
    (doubt,) = explain(known, ONE, at(1), DEFAULT).doubts
    assert "on the other side" in doubt
