"""Waiting for something in a pane."""

import pytest

from termvisor.errors import BadRequest
from termvisor.testing.runs import Scene
from termvisor.workflows.calls import WaitFor
from termvisor.workflows.steps.wait import fitting
from termvisor.workflows.workflow import Workflow
from tests.unit.workflows.engine.test_engine import asked_for
from tests.unit.workflows.living import ended, living, pass_time


async def waited(scene: Scene, what: WaitFor, happens=lambda: None, *, says: str = "") -> str:
    async def waits(context) -> str:
        if says:
            await context.send(says)
        met = await context.wait_for(what)
        return f"{met.what}: {met.text}"

    scene.shelf = Scene(Workflow(name="refresh", summary="", run=waits)).shelf
    async with living(scene) as engine:
        await engine.begin(asked_for(scene))
        await pass_time(scene)
        happens()
        return (await ended(scene)).why


async def test_a_text_that_comes_and_one_that_came_before_the_first_act():
    scene = Scene()
    assert await waited(scene, WaitFor(text="go"), lambda: scene.world.say(scene.pane, "now go")) == "text: now go"
    scene = Scene()
    scene.world.say(scene.pane, "go on")
    assert await waited(scene, WaitFor(text="go")) == "text: go on"


async def test_the_row_that_shows_what_was_typed_is_not_its_answer():
    scene = Scene()
    scene.hands.after = lambda _action: scene.world.say(scene.pane, "$ make test", "test passed")
    scene.hands.outcome = type(scene.hands.outcome)(status="delivered", lines=0)
    assert await waited(scene, WaitFor(text="test"), says="make test") == "text: test passed"


async def test_a_pattern_a_state_a_prompt_and_quiet():
    scene = Scene()
    came = await waited(scene, WaitFor(pattern="^ok [0-9]+$"), lambda: scene.world.say(scene.pane, "ok", "ok 7"))
    assert came == "pattern: ok 7"
    scene = Scene()
    happens = lambda: scene.sight.change(scene.pane, agent="codex", state="idle")  # noqa: E731
    assert await waited(scene, WaitFor(state=("idle",)), happens) == "state: idle"
    scene = Scene()
    assert await waited(scene, WaitFor(prompt=True), lambda: scene.sight.change(scene.pane, activity="prompt"))
    scene = Scene()
    scene.world.say(scene.pane, "x")
    assert await waited(scene, WaitFor(quiet=5.0)) == "quiet: "


async def test_what_a_repainting_screen_shows_counts():
    scene = Scene()
    happens = lambda: scene.sight.change(scene.pane, agent="codex", screen=("old", "❯"))  # noqa: E731
    assert await waited(scene, WaitFor(text="❯"), happens) == "text: ❯"


async def test_an_event_by_its_rule_or_type_but_not_the_one_that_started_it():
    scene = Scene()
    assert await waited(scene, WaitFor(rule="session.*"), lambda: scene.find()) == "rule: session.compaction"


async def test_a_signal_counts_once_also_when_it_came_before():
    async def waits(context) -> str:
        first = await context.wait_for(WaitFor(signal="go"))
        try:
            await context.wait_for(WaitFor(signal="go", timeout=3))
        except Exception as error:
            return f"{first.value} then {type(error).__name__}"
        return "twice"

    scene = Scene(Workflow(name="refresh", summary="", run=waits))
    async with living(scene) as engine:
        run = await engine.begin(asked_for(scene))
        await engine.signal(run.id, "go", "one", "human:1")
        assert (await ended(scene)).why == "one then TimedOut"


async def test_what_does_not_come_ends_the_run():
    scene = Scene()
    assert await waited(scene, WaitFor(text="never", timeout=5)) == "what the run waited for did not come within 5 s"


async def test_exactly_one_thing_is_waited_for():
    assert "exactly one thing" in await waited(Scene(), WaitFor(text="a", prompt=True))


def test_a_pattern_that_cannot_be_understood_is_told():
    with pytest.raises(BadRequest):
        fitting(WaitFor(pattern="(?=x)"))
