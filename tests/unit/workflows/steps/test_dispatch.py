"""Dispatch of steps: trigger checks, sleeps and questions."""

import pytest

from termvisor.model.detection.detection import Detection
from termvisor.model.ids import PaneId
from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.calls import Observation
from termvisor.workflows.steps.dispatch import check_detection_visible
from termvisor.workflows.workflow import Workflow
from tests.unit.workflows.engine.test_engine import asked_for
from tests.unit.workflows.running_engine import advance_time, run_engine, wait_until_ended

PANE = PaneId(1)


def found(**more) -> Detection:
    known = {"at": 1, "type": "session.compaction", "rule": "claude.compaction", "pane": PANE, "source": "stream"}
    return Detection(**(known | {"context": "✻ Conversation compacted"} | more))


@pytest.mark.parametrize(
    ("detection", "seen", "is_so"),
    [
        ({}, {"lines": ("x", " ✻  Conversation compacted ")}, True),
        ({}, {"screen": ("✻ Conversation compacted · ctrl+o",)}, True),
        ({}, {"lines": ("something else",)}, False),
        ({"context": ""}, {"lines": ("x",)}, False),
        ({"evidence": {"line": 90}}, {"line": 100}, True),
        ({"evidence": {"line": 9}}, {"line": 100}, False),
        ({"runtime": 4}, {"runtime": 5, "lines": ("✻ Conversation compacted",)}, False),
        ({"rule": "signal.usage_limited", "source": "signal"}, {"usage_limited": True}, True),
        ({"rule": "signal.usage_limited", "source": "signal"}, {}, False),
        ({"rule": "signal.other", "source": "signal"}, {}, False),
    ],
)
def test_whether_a_pane_still_shows_what_was_detected(detection, seen, is_so):
    assert check_detection_visible(found(**detection), Observation(at=1, pane=PANE, **seen), 50).is_so == is_so


async def run_once(work, scene: WorkflowScene | None = None):
    scene = scene or WorkflowScene()
    scene.registry = WorkflowScene(Workflow(name="refresh", summary="", run=work)).registry
    async with run_engine(scene) as engine:
        await engine.start_run(asked_for(scene))
        return await wait_until_ended(scene)


async def test_a_text_is_still_there_or_not():
    async def looks(context) -> str:
        return f"{(await context.still('limit')).is_so} {(await context.still('other')).is_so}"

    scene = WorkflowScene()
    scene.services.print_lines(scene.pane, "usage limit")
    assert (await run_once(looks, scene)).why == "True False"


async def test_a_sleep_is_by_the_wall_clock():
    async def sleeps(context) -> str:
        began = await context.now()
        return str((await context.sleep_until(began + 3_000_000_000) - began) // 1_000_000_000)

    assert (await run_once(sleeps)).why == "3"


async def test_a_question_is_answered_by_a_persons_signal_only():
    async def asks(context) -> str:
        return (await context.ask_person("which way?", ("left", "right"))).choice

    scene = WorkflowScene(Workflow(name="refresh", summary="", run=asks))
    scene.gate.hangs = True
    async with run_engine(scene) as engine:
        run = await engine.start_run(asked_for(scene))
        await advance_time(scene)
        await engine.send_signal(run.id, "left", "", "robot:1")
        await advance_time(scene)
        await engine.send_signal(run.id, "right", "", "human:1")
        assert (await wait_until_ended(scene)).why == "right"
    assert scene.gate.withdrawn_correlations[0] == "c.1.0.1"
