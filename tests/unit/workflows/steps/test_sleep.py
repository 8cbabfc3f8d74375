"""A pause ends when it is due, when a person resumes it, or when the pane or a setting changes."""

import pytest

from termvisor.clock import NS
from termvisor.errors import MuxError
from termvisor.model.ids import PaneId, RuntimeId
from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.calls import Observation, PauseCall
from termvisor.workflows.steps.sleep import describe_pane_change
from termvisor.workflows.workflow import Workflow
from tests.unit.workflows.engine.test_engine import asked_for
from tests.unit.workflows.running_engine import advance_time, run_engine, wait_until_ended


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        ({"agent": "codex", "runtime": 4, "state": "error"}, ""),
        ({"agent": "codex", "runtime": 5, "state": "error"}, "another agent is in the pane"),
        ({}, "its agent has exited"),
        ({"agent": "codex", "runtime": 4, "state": "running"}, "codex is running"),
    ],
)
def test_a_change_of_the_pane_is_described(seen, words):
    call = PauseCall(plan="wait", runtime=RuntimeId(4), unless=("running",))
    assert describe_pane_change(call, Observation(at=1, pane=PaneId(1), **seen)) == words


def scene_with(**pause) -> WorkflowScene:
    async def pauses(context) -> str:
        until = await context.now() + 60 * NS
        paused = await context.pause_until_changed(PauseCall(plan="wait", until=until, **pause))
        return f"{paused.why} {paused.text}".strip()

    return WorkflowScene(Workflow(name="refresh", summary="", run=pauses))


async def test_without_a_change_the_pause_ends_when_due():
    scene = scene_with(unless=("running",), needs=("auto_resume",))
    async with run_engine(scene) as engine:
        await engine.start_run(asked_for(scene))
        assert (await wait_until_ended(scene)).why == "due"


async def test_a_changed_pane_ends_the_pause_at_once():
    scene = scene_with(unless=("running",))
    async with run_engine(scene) as engine:
        await engine.start_run(asked_for(scene))
        await advance_time(scene)
        began = scene.clock.now()
        scene.pane_observer.change_pane(scene.pane, agent="codex", state="running")
        assert (await wait_until_ended(scene)).why == "changed codex is running"
        assert scene.clock.now() == began


async def test_an_unresponsive_tmux_does_not_end_the_pause(monkeypatch):
    scene = scene_with(unless=("running",))
    real, errors = scene.pane_observer.observe, [MuxError("the control client ended")] * 2

    async def observe(pane, lines):
        if errors and scene.runs.steps_by_run:
            raise errors.pop()
        return await real(pane, lines)

    monkeypatch.setattr(scene.pane_observer, "observe", observe)
    async with run_engine(scene) as engine:
        await engine.start_run(asked_for(scene))
        run = await wait_until_ended(scene)
    assert (run.status, run.why, errors) == ("completed", "due", [])


async def test_a_needed_setting_that_is_switched_off_ends_the_pause():
    scene = scene_with(needs=("auto_resume",))
    async with run_engine(scene) as engine:
        await engine.start_run(asked_for(scene))
        await advance_time(scene)
        scene.preferences.set_values(auto_resume=False)
        scene.detections.bus.publish("config_reloaded")
        assert (await wait_until_ended(scene)).why == "changed auto_resume is off"


async def test_a_workflow_that_is_switched_off_is_cancelled_during_its_pause():
    scene = scene_with()
    async with run_engine(scene) as engine:
        await engine.start_run(asked_for(scene))
        await advance_time(scene)
        scene.modes.modes["refresh"] = "off"
        scene.detections.bus.publish("config_reloaded")
        run = await wait_until_ended(scene)
    assert (run.status, run.why) == ("cancelled", "refresh is switched off")
