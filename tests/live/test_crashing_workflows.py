"""Built-in workflows with fake agents, and a daemon that is killed at every write and during every action.

They end the same or report an unknown outcome, no key is sent twice, and no event is lost.
"""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from termvisor.testing.recorded_runs import RecordedRun, decode_recorded_run
from termvisor.workflows.workflow import BUILTIN
from tests.live.crash_points import CRASH_POINTS, HARMLESS_MOMENTS
from tests.live.fake_agent_host import FakeAgentHost, run_fake_agent_host
from tests.live.scenario_runner import RunningScenario, ScenarioResult, ScenarioRunner
from tests.live.workflow_scenarios import SCENARIOS, WorkflowScenario
from tests.recordings.history import export_history

HISTORIES = Path(__file__).resolve().parents[1] / "recordings" / "histories"
SETTINGS = {"workflow_modes": "*=on", "workflow_max_concurrent": "50", "workflow_unstick_after": "1"}
NAMES = [scenario.workflow for scenario in SCENARIOS]
CRASH_POINT_GROUPS = (("checked", "recorded", "written"), ("pressed", "verified", "finished"))
ResultsByKind = dict[str, dict[str, ScenarioResult]]


def test_every_builtin_workflow_and_every_crash_point_is_covered():
    assert sorted(NAMES) == sorted(BUILTIN)
    assert [moment for moments in CRASH_POINT_GROUPS for moment in moments] == list(CRASH_POINTS)


def build_crash_plans(after: list[RunningScenario], before: list[RunningScenario]) -> list[dict]:
    """Plan crashes before any run starts, right after the start, and at every write."""
    panes = {"after": [part.agent_pane.pane for part in after], "before": [part.agent_pane.pane for part in before]}
    return [{"added": "before"}, {"added": "after"}, panes]


@pytest.fixture(scope="module")
def results() -> Iterator[ResultsByKind]:
    """Results of each scenario: undisturbed, killed after each write, and killed before each write."""
    with run_fake_agent_host(**SETTINGS) as host:
        runner = ScenarioRunner(host, SCENARIOS)
        kinds = {kind: runner.open_scenarios() for kind in ("still", "after", "before")}
        runner.start_agents([part for parts in kinds.values() for part in parts])
        runner.run_undisturbed(kinds["still"])
        if os.environ.get("GOLDEN") == "write":
            write_histories(host, kinds["still"])
        runner.run_disturbed([*kinds["after"], *kinds["before"]], build_crash_plans(kinds["after"], kinds["before"]))
        yield collect_results(host, kinds)


@pytest.fixture(params=CRASH_POINT_GROUPS, ids=" ".join)
def results_by_moment(request: pytest.FixtureRequest) -> Iterator[ResultsByKind]:
    """Results of each scenario whose daemon was killed at these moments of all actions."""
    with run_fake_agent_host(**SETTINGS) as host:
        runner = ScenarioRunner(host, SCENARIOS)
        parts_by_moment = {moment: runner.open_scenarios() for moment in request.param}
        all_parts = [part for parts in parts_by_moment.values() for part in parts]
        runner.start_agents(all_parts)
        runner.run_disturbed(all_parts, [{"hasty": True} | build_moment_plan(parts_by_moment)])
        assert runner.crash_count > 1
        yield collect_results(host, parts_by_moment)


def build_moment_plan(parts_by_moment: dict[str, list[RunningScenario]]) -> dict:
    return {
        "during": {str(part.agent_pane.pane): moment for moment, parts in parts_by_moment.items() for part in parts}
    }


def collect_results(host: FakeAgentHost, kinds: dict[str, list[RunningScenario]]) -> ResultsByKind:
    with host.run_daemon():
        host.visor.run_checked("audit", "verify")
    return {
        kind: {part.scenario.workflow: part.collect_result(host) for part in parts} for kind, parts in kinds.items()
    }


def write_histories(host: FakeAgentHost, parts: list[RunningScenario]) -> None:
    """Write the run histories for `tests/replay`, with the temporary folders replaced."""
    for part in parts:
        data = asyncio.run(export_history(host.visor.paths.database, part.list_matching_runs(host)[0][0], ""))
        path = HISTORIES / f"{part.scenario.workflow}_played.json"
        path.write_bytes(data.replace(str(part.agent_pane.folder).encode(), b"/home/dev"))


def list_faults(scenario: WorkflowScenario, result: ScenarioResult, recording: RecordedRun | None = None) -> list[str]:
    """Return the faults of a result. With ``recording`` it must equal the recorded run; without, an action with unknown
    outcome may have happened once or not at all, but never twice."""
    typed = result.typed.count(scenario.expected_input) if scenario.expected_input else 0
    found = [f"{typed} times typed"] if typed > 1 else []
    found += [f"{result.started} times started"] if result.started > scenario.expected_starts else []
    found += [f"it is {result.status}"] if result.status not in ("completed", "failed") else []
    if recording is None:
        return found
    found += [f"it is {result.status}"] if result.status != recording.run.status else []
    steps = [(one.kind, one.name, one.status) for one in recording.steps if one.kind != "still"]
    found += ["other steps"] if result.steps != steps else []
    found += ["not typed"] if scenario.expected_input and not typed else []
    return found + (["not started"] if result.started < scenario.expected_starts else [])


def load_recording(scenario: WorkflowScenario) -> RecordedRun:
    return decode_recorded_run((HISTORIES / f"{scenario.workflow}_played.json").read_bytes())


@pytest.mark.live
@pytest.mark.timeout(300)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=NAMES)
def test_a_builtin_workflow_killed_at_each_write_ends_like_an_undisturbed_run(
    results: ResultsByKind, scenario: WorkflowScenario
):
    undisturbed = results["still"][scenario.workflow]
    assert (undisturbed.status, undisturbed.started) == (scenario.status, scenario.expected_starts)
    assert undisturbed.typed.count(scenario.expected_input) == 1
    assert results["after"][scenario.workflow] == undisturbed
    assert results["before"][scenario.workflow] == undisturbed


@pytest.mark.live
@pytest.mark.timeout(300)
def test_builtin_workflows_killed_during_actions_never_act_twice(results_by_moment: ResultsByKind):
    for moment, result in results_by_moment.items():
        check_moment(moment, result)


def check_moment(moment: str, results: dict[str, ScenarioResult]) -> None:
    is_known = moment in HARMLESS_MOMENTS
    scenarios = [(scenario, results[scenario.workflow]) for scenario in SCENARIOS if scenario.workflow in results]
    found = {
        scenario.workflow: list_faults(scenario, result, load_recording(scenario) if is_known else None)
        for scenario, result in scenarios
    }
    assert {name: (moment, results) for name, results in found.items() if results} == {}


@pytest.mark.live
@pytest.mark.timeout(180)
def test_an_engine_that_repeats_actions_after_a_crash_fails_these_checks():
    """The engine acts, dies before that is journaled, and acts again: the checks above must detect this."""
    with run_fake_agent_host(**SETTINGS) as host:
        runner = ScenarioRunner(host, SCENARIOS[:1])
        parts = runner.open_scenarios()
        runner.start_agents(parts)
        runner.run_disturbed(parts, [{"before": [parts[0].agent_pane.pane], "forgets": True}])
        result = collect_results(host, {"killed": parts})["killed"][SCENARIOS[0].workflow]
    assert "2 times typed" in list_faults(SCENARIOS[0], result, load_recording(SCENARIOS[0]))
