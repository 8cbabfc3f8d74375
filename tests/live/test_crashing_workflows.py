"""Built-in workflows, before agents played in a real tmux, beside a daemon that is killed at every write of every run
and at every moment of every act: they end the same or say what they do not know, no key comes twice, no event is lost.
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
NAMES = [play.workflow for play in SCENARIOS]
GRID = (("judged", "recorded", "written"), ("pressed", "verified", "told"))
Told = dict[str, dict[str, ScenarioResult]]


def test_every_built_in_workflow_is_played_and_every_moment_is_one_of_death():
    assert sorted(NAMES) == sorted(BUILTIN)
    assert [moment for moments in GRID for moment in moments] == list(CRASH_POINTS)


def plans(after: list[RunningScenario], before: list[RunningScenario]) -> list[dict]:
    """Killed before any run has begun; right after they have; and then at every write."""
    panes = {"after": [part.agent_pane.pane for part in after], "before": [part.agent_pane.pane for part in before]}
    return [{"added": "before"}, {"added": "after"}, panes]


@pytest.fixture(scope="module")
def told() -> Iterator[Told]:
    """How each play ended: undisturbed; killed right after each write; killed right before each."""
    with run_fake_agent_host(**SETTINGS) as stage:
        show = ScenarioRunner(stage, SCENARIOS)
        kinds = {kind: show.open_scenarios() for kind in ("still", "after", "before")}
        show.start_agents([part for parts in kinds.values() for part in parts])
        show.run_undisturbed(kinds["still"])
        if os.environ.get("GOLDEN") == "write":
            keep(stage, kinds["still"])
        show.run_disturbed([*kinds["after"], *kinds["before"]], plans(kinds["after"], kinds["before"]))
        yield checked(stage, kinds)


@pytest.fixture(params=GRID, ids=" ".join)
def amidst(request: pytest.FixtureRequest) -> Iterator[Told]:
    """How each play ended whose daemon was killed at these moments of all its acts."""
    with run_fake_agent_host(**SETTINGS) as stage:
        show = ScenarioRunner(stage, SCENARIOS)
        acting = {moment: show.open_scenarios() for moment in request.param}
        everybody = [part for parts in acting.values() for part in parts]
        show.start_agents(everybody)
        show.run_disturbed(everybody, [{"hasty": True} | amid(acting)])
        assert show.crash_count > 1
        yield checked(stage, acting)


def amid(acting: dict[str, list[RunningScenario]]) -> dict:
    return {"during": {str(part.agent_pane.pane): moment for moment, parts in acting.items() for part in parts}}


def checked(stage: FakeAgentHost, kinds: dict[str, list[RunningScenario]]) -> Told:
    with stage.run_daemon():
        stage.visor.run_checked("audit", "verify")
    return {
        kind: {part.scenario.workflow: part.collect_result(stage) for part in parts} for kind, parts in kinds.items()
    }


def keep(stage: FakeAgentHost, parts: list[RunningScenario]) -> None:
    """What they asked for and got, for `tests/replay`; the folders of this theatre are nobody else's business."""
    for part in parts:
        data = asyncio.run(export_history(stage.visor.paths.database, part.list_matching_runs(stage)[0][0], ""))
        path = HISTORIES / f"{part.scenario.workflow}_played.json"
        path.write_bytes(data.replace(str(part.agent_pane.folder).encode(), b"/home/dev"))


def faults(play: WorkflowScenario, came: ScenarioResult, kept: RecordedRun | None = None) -> list[str]:
    """What is wrong with how a play ended. With ``kept`` it must have ended as it was recorded; without, what is not
    known of an act may have come to nothing, and never to two."""
    typed = came.typed.count(play.expected_input) if play.expected_input else 0
    found = [f"{typed} times typed"] if typed > 1 else []
    found += [f"{came.started} times started"] if came.started > play.expected_starts else []
    found += [f"it is {came.status}"] if came.status not in ("completed", "failed") else []
    if kept is None:
        return found
    found += [f"it is {came.status}"] if came.status != kept.run.status else []
    found += ["other steps"] if came.steps != [(one.kind, one.name, one.status) for one in kept.steps] else []
    found += ["not typed"] if play.expected_input and not typed else []
    return found + (["not started"] if came.started < play.expected_starts else [])


def recorded(play: WorkflowScenario) -> RecordedRun:
    return decode_recorded_run((HISTORIES / f"{play.workflow}_played.json").read_bytes())


@pytest.mark.live
@pytest.mark.timeout(300)
@pytest.mark.parametrize("play", SCENARIOS, ids=NAMES)
def test_killed_at_every_write_it_ends_as_if_nothing_had_happened(told: Told, play: WorkflowScenario):
    still = told["still"][play.workflow]
    assert (still.status, still.started) == (play.status, play.expected_starts)
    assert still.typed.count(play.expected_input) == 1
    assert told["after"][play.workflow] == still
    assert told["before"][play.workflow] == still


@pytest.mark.live
@pytest.mark.timeout(300)
def test_killed_in_the_midst_of_their_acts_they_never_act_twice(amidst: Told):
    for moment, came in amidst.items():
        check_amidst(moment, came)


def check_amidst(moment: str, ended: dict[str, ScenarioResult]) -> None:
    is_known = moment in HARMLESS_MOMENTS
    played = [(play, ended[play.workflow]) for play in SCENARIOS if play.workflow in ended]
    found = {play.workflow: faults(play, came, recorded(play) if is_known else None) for play, came in played}
    assert {name: (moment, told) for name, told in found.items() if told} == {}


@pytest.mark.live
@pytest.mark.timeout(180)
def test_an_engine_that_does_not_know_its_own_acts_again_is_found_out():
    """It acts, dies before that is in its journal, and acts again: were this not seen here, nothing would be proven."""
    with run_fake_agent_host(**SETTINGS) as stage:
        show = ScenarioRunner(stage, SCENARIOS[:1])
        parts = show.open_scenarios()
        show.start_agents(parts)
        show.run_disturbed(parts, [{"before": [parts[0].agent_pane.pane], "forgets": True}])
        came = checked(stage, {"killed": parts})["killed"][SCENARIOS[0].workflow]
    assert "2 times typed" in faults(SCENARIOS[0], came, recorded(SCENARIOS[0]))
