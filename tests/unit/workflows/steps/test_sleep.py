"""A pause ends when its time comes, when a person says so, or when what was left is no longer so."""

import pytest

from termvisor.clock import NS
from termvisor.errors import MuxError
from termvisor.model.ids import PaneId, RuntimeId
from termvisor.testing.runs import Scene
from termvisor.workflows.calls import Observation, Pause
from termvisor.workflows.steps.sleep import differs
from termvisor.workflows.workflow import Workflow
from tests.unit.workflows.engine.test_engine import asked_for
from tests.unit.workflows.living import ended, living, pass_time


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        ({"agent": "codex", "runtime": 4, "state": "error"}, ""),
        ({"agent": "codex", "runtime": 5, "state": "error"}, "another agent is in the pane"),
        ({}, "its agent has left the pane"),
        ({"agent": "codex", "runtime": 4, "state": "running"}, "codex is running"),
    ],
)
def test_what_is_no_longer_as_it_was_left(seen, words):
    call = Pause(plan="wait", runtime=RuntimeId(4), unless=("running",))
    assert differs(call, Observation(at=1, pane=PaneId(1), **seen)) == words


def scene_with(**pause) -> Scene:
    async def pauses(context) -> str:
        until = await context.now() + 60 * NS
        paused = await context.pause_as(Pause(plan="wait", until=until, **pause))
        return f"{paused.why} {paused.text}".strip()

    return Scene(Workflow(name="refresh", summary="", run=pauses))


async def test_without_a_change_its_time_comes():
    scene = scene_with(unless=("running",), needs=("auto_resume",))
    async with living(scene) as engine:
        await engine.begin(asked_for(scene))
        assert (await ended(scene)).why == "due"


async def test_a_pane_that_changes_ends_it_at_once():
    scene = scene_with(unless=("running",))
    async with living(scene) as engine:
        await engine.begin(asked_for(scene))
        await pass_time(scene)
        began = scene.clock.now()
        scene.sight.change(scene.pane, agent="codex", state="running")
        assert (await ended(scene)).why == "changed codex is running"
        assert scene.clock.now() == began


async def test_a_multiplexer_that_does_not_answer_ends_nothing(monkeypatch):
    scene = scene_with(unless=("running",))
    real, troubles = scene.sight.observe, [MuxError("the control client ended")] * 2

    async def observe(pane, lines):
        if troubles and scene.runs.journal:
            raise troubles.pop()
        return await real(pane, lines)

    monkeypatch.setattr(scene.sight, "observe", observe)
    async with living(scene) as engine:
        await engine.begin(asked_for(scene))
        run = await ended(scene)
    assert (run.status, run.why, troubles) == ("completed", "due", [])


async def test_a_setting_that_it_needs_ends_it_at_once():
    scene = scene_with(needs=("auto_resume",))
    async with living(scene) as engine:
        await engine.begin(asked_for(scene))
        await pass_time(scene)
        scene.preferences.set(auto_resume=False)
        scene.detected.bus.publish("config_reloaded")
        assert (await ended(scene)).why == "changed auto_resume is off"


async def test_a_workflow_that_is_switched_off_does_not_wait_until_it_acts():
    scene = scene_with()
    async with living(scene) as engine:
        await engine.begin(asked_for(scene))
        await pass_time(scene)
        scene.modes.modes["refresh"] = "off"
        scene.detected.bus.publish("config_reloaded")
        run = await ended(scene)
    assert (run.status, run.why) == ("cancelled", "refresh is switched off")
