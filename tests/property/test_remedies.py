"""The built-in answers to compactions and limits, killed at every single moment: they end the same and say it once."""

import asyncio

import pytest

from termvisor.clock import NS
from termvisor.model.ids import EventId, RuntimeId
from termvisor.model.workflow import ENDED_RUN_STATUSES, Run, RunId
from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.builtin import handle_compaction, handle_usage_limits
from tests.property.test_runs import Killer

RUNTIME = RuntimeId(4)
ROW = "  ⎿  Compacted (ctrl+o to see full summary)"
MOST = 60
"""Writes of a run; beyond its last one nobody is killed."""


def compacted() -> WorkflowScene:
    scene = WorkflowScene(handle_compaction.WORKFLOW)
    scene.pane_observer.change_pane(scene.pane, agent="claude_code", runtime=RUNTIME, state="idle", screen=(ROW,))
    scene.add_detection(context=ROW, runtime=RUNTIME, agent="claude_code", source="screen")
    return scene


def limited() -> WorkflowScene:
    scene = WorkflowScene(handle_usage_limits.WORKFLOW)
    ends_at = scene.clock.now() + 20 * NS + 1
    facts = {"state": "error", "usage_limited": True, "resets_at": ends_at, "session": "abc"}
    scene.pane_observer.change_pane(scene.pane, agent="codex", runtime=RUNTIME, **facts)
    scene.add_detection("usage.reached", rule="signal.usage_limited", source="signal", agent="codex", runtime=RUNTIME)
    return scene


async def lived(scene: WorkflowScene, moment: str, nth: int) -> tuple[Run, int]:
    """The run at its end, and how often its daemon was killed."""
    works = {"state": "running", "usage_limited": False, "resets_at": None}
    scene.gate.after_action = lambda _: scene.pane_observer.change_pane(scene.pane, state_at=scene.clock.now(), **works)
    await scene.runs.advance_cursor(EventId(0))

    async def is_over() -> bool:
        found = scene.runs.stored_runs.get(RunId(1))
        return found is not None and found.status in ENDED_RUN_STATUSES

    first = Killer(scene, scene.runs, moment, nth)
    await first.live(is_over)
    if not await is_over():
        await Killer(scene, scene.runs, "never", 0).live(is_over)
    return scene.runs.stored_runs[RunId(1)], first.runs.death_event.is_set()


@pytest.mark.parametrize("make", [compacted, limited])
@pytest.mark.parametrize("moment", ["before a write", "after a write"])
def test_killed_at_every_write_it_ends_the_same_and_sends_once(make, moment):
    kills = 0
    for nth in range(1, MOST):
        scene = make()
        run, was_killed = asyncio.run(lived(scene, moment, nth))
        assert (run.status, len(scene.gate.executed)) == ("completed", 1), (nth, run)
        kills += was_killed
        if not was_killed:
            break
    assert 10 < kills < MOST - 1


@pytest.mark.parametrize("make", [compacted, limited])
@pytest.mark.parametrize(("moment", "sent"), [("intent", 0), ("deed", 1), ("outcome", 1)])
def test_killed_in_the_middle_of_the_act_it_is_never_done_twice(make, moment, sent):
    scene = make()
    run, was_killed = asyncio.run(lived(scene, moment, 1))
    assert (was_killed, len(scene.gate.executed)) == (True, sent)
    assert run.status == ("completed" if moment == "outcome" else "failed")
