"""The built-in compaction and usage limit workflows, killed at every moment, complete and act once."""

import asyncio

import pytest

from termvisor.clock import NS
from termvisor.model.ids import EventId, RuntimeId
from termvisor.model.workflow import ENDED_RUN_STATUSES, Run, RunId
from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.builtin import handle_compaction, handle_usage_limits
from tests.property.test_runs import CrashingDaemon

RUNTIME = RuntimeId(4)
ROW = "  ⎿  Compacted (ctrl+o to see full summary)"
MAX_WRITES = 60
"""More writes than a run makes; after its last write no crash happens."""


def build_compaction_scene() -> WorkflowScene:
    scene = WorkflowScene(handle_compaction.WORKFLOW)
    scene.pane_observer.change_pane(scene.pane, agent="claude_code", runtime=RUNTIME, state="idle", screen=(ROW,))
    scene.add_detection(context=ROW, runtime=RUNTIME, agent="claude_code", source="screen")
    return scene


def build_usage_limit_scene() -> WorkflowScene:
    scene = WorkflowScene(handle_usage_limits.WORKFLOW)
    ends_at = scene.clock.now() + 20 * NS + 1
    facts = {"state": "error", "usage_limited": True, "resets_at": ends_at, "session": "abc"}
    scene.pane_observer.change_pane(scene.pane, agent="codex", runtime=RUNTIME, **facts)
    scene.add_detection("usage.reached", rule="signal.usage_limited", source="signal", agent="codex", runtime=RUNTIME)
    return scene


async def run_with_crash(scene: WorkflowScene, moment: str, nth: int) -> tuple[Run, int]:
    """Return the ended run, and whether its daemon was killed."""
    running_facts = {"state": "running", "usage_limited": False, "resets_at": None}
    scene.gate.after_action = lambda _: scene.pane_observer.change_pane(
        scene.pane, state_at=scene.clock.now(), **running_facts
    )
    await scene.runs.advance_cursor(EventId(0))

    async def is_over() -> bool:
        found = scene.runs.stored_runs.get(RunId(1))
        return found is not None and found.status in ENDED_RUN_STATUSES

    first = CrashingDaemon(scene, scene.runs, moment, nth)
    await first.run_until(is_over)
    if not await is_over():
        await CrashingDaemon(scene, scene.runs, "never", 0).run_until(is_over)
    return scene.runs.stored_runs[RunId(1)], first.runs.death_event.is_set()


@pytest.mark.parametrize("make", [build_compaction_scene, build_usage_limit_scene])
@pytest.mark.parametrize("moment", ["before a write", "after a write"])
def test_a_builtin_workflow_killed_at_each_write_completes_and_acts_once(make, moment):
    crashes = 0
    for nth in range(1, MAX_WRITES):
        scene = make()
        run, was_killed = asyncio.run(run_with_crash(scene, moment, nth))
        assert (run.status, len(scene.gate.executed)) == ("completed", 1), (nth, run)
        crashes += was_killed
        if not was_killed:
            break
    assert 10 < crashes < MAX_WRITES - 1


@pytest.mark.parametrize("make", [build_compaction_scene, build_usage_limit_scene])
@pytest.mark.parametrize(("moment", "sent"), [("intent", 0), ("deed", 1), ("outcome", 1)])
def test_a_builtin_workflow_killed_during_its_action_never_repeats_it(make, moment, sent):
    scene = make()
    run, was_killed = asyncio.run(run_with_crash(scene, moment, 1))
    assert (was_killed, len(scene.gate.executed)) == (True, sent)
    assert run.status == ("completed" if moment == "outcome" else "failed")
