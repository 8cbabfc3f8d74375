"""Waiting for a condition in a pane."""

import asyncio

import pytest

from termvisor.clock import NS
from termvisor.errors import BadRequest, MuxError, TimedOut
from termvisor.model.event import Event
from termvisor.model.ids import PaneId, RuntimeId
from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.calls import PauseCall, WaitFor
from termvisor.workflows.results import Observation
from termvisor.workflows.steps.wait import build_text_matcher, describe_pane_change, race
from termvisor.workflows.workflow import Workflow
from tests.unit.workflows.engine.test_engine import build_manual_run
from tests.unit.workflows.running_engine import advance_time, run_engine, wait_until_ended


async def wait_in_run(
    scene: WorkflowScene, what: WaitFor, happens=lambda: None, *, says: str = "", run: int = 1
) -> str:
    async def waits(context) -> str:
        if says:
            await context.send(says)
        met = await context.wait_for(what)
        return f"{met.what}: {met.text}"

    scene.registry = WorkflowScene(Workflow(name="refresh", summary="", run=waits)).registry
    async with run_engine(scene) as engine:
        await engine.start_run(build_manual_run(scene))
        await advance_time(scene)
        happens()
        return (await wait_until_ended(scene, run)).why


async def test_new_text_and_text_before_the_first_action_match():
    scene = WorkflowScene()
    assert (
        await wait_in_run(scene, WaitFor(text="go"), lambda: scene.services.print_lines(scene.pane, "now go"))
        == "text: now go"
    )
    scene = WorkflowScene()
    scene.services.print_lines(scene.pane, "go on")
    assert await wait_in_run(scene, WaitFor(text="go")) == "text: go on"


async def test_the_echo_of_the_typed_text_does_not_match():
    scene = WorkflowScene()
    scene.gate.after_action = lambda _action: scene.services.print_lines(scene.pane, "$ make test", "test passed")
    scene.gate.outcome = type(scene.gate.outcome)(status="delivered", lines=0)
    assert await wait_in_run(scene, WaitFor(text="test"), says="make test") == "text: test passed"


async def test_pattern_state_prompt_and_quiet_are_awaited():
    scene = WorkflowScene()
    came = await wait_in_run(
        scene, WaitFor(pattern="^ok [0-9]+$"), lambda: scene.services.print_lines(scene.pane, "ok", "ok 7")
    )
    assert came == "pattern: ok 7"
    scene = WorkflowScene()
    happens = lambda: scene.pane_observer.change_pane(scene.pane, agent="codex", state="idle")  # noqa: E731
    assert await wait_in_run(scene, WaitFor(state=("idle",)), happens) == "state: idle"
    scene = WorkflowScene()
    assert await wait_in_run(
        scene, WaitFor(prompt=True), lambda: scene.pane_observer.change_pane(scene.pane, activity="prompt")
    )
    scene = WorkflowScene()
    scene.services.print_lines(scene.pane, "x")
    assert await wait_in_run(scene, WaitFor(quiet=5.0)) == "quiet: "


async def test_the_screen_of_a_repainting_program_counts():
    scene = WorkflowScene()
    happens = lambda: scene.pane_observer.change_pane(scene.pane, agent="codex", screen=("old", "❯"))  # noqa: E731
    assert await wait_in_run(scene, WaitFor(text="❯"), happens) == "text: ❯"


async def test_an_event_is_awaited_by_rule_or_type_except_the_trigger():
    scene = WorkflowScene()
    assert (
        await wait_in_run(scene, WaitFor(rule="session.*"), lambda: scene.add_detection()) == "rule: session.compaction"
    )


async def test_a_signal_counts_once_also_if_sent_before_the_wait():
    async def waits(context) -> str:
        first = await context.wait_for(WaitFor(signal="go"))
        try:
            await context.wait_for(WaitFor(signal="go", timeout=3))
        except Exception as error:
            return f"{first.value} then {type(error).__name__}"
        return "twice"

    scene = WorkflowScene(Workflow(name="refresh", summary="", run=waits))
    async with run_engine(scene) as engine:
        run = await engine.start_run(build_manual_run(scene))
        await engine.send_signal(run.id, "go", "one", "human:1")
        assert (await wait_until_ended(scene)).why == "one then TimedOut"


async def test_a_timeout_ends_the_run():
    scene = WorkflowScene()
    assert await wait_in_run(scene, WaitFor(text="never", timeout=5)) == "timed out after 5 s waiting for text"


async def test_exactly_one_condition_is_required():
    assert "exactly one of" in await wait_in_run(WorkflowScene(), WaitFor(text="a", prompt=True))


def test_an_invalid_pattern_is_an_error():
    with pytest.raises(BadRequest):
        build_text_matcher(WaitFor(pattern="(?=x)"))


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


def build_scene(**pause) -> WorkflowScene:
    async def pauses(context) -> str:
        until = await context.now() + 60 * NS
        paused = await context.pause_until_changed(PauseCall(plan="wait", until=until, **pause))
        return f"{paused.why} {paused.text}".strip()

    return WorkflowScene(Workflow(name="refresh", summary="", run=pauses))


async def test_without_a_change_the_pause_ends_when_due():
    scene = build_scene(unless=("running",), needs=("auto_resume",))
    async with run_engine(scene) as engine:
        await engine.start_run(build_manual_run(scene))
        assert (await wait_until_ended(scene)).why == "due"


async def test_a_changed_pane_ends_the_pause_at_once():
    scene = build_scene(unless=("running",))
    async with run_engine(scene) as engine:
        await engine.start_run(build_manual_run(scene))
        await advance_time(scene)
        began = scene.clock.now()
        scene.pane_observer.change_pane(scene.pane, agent="codex", state="running")
        assert (await wait_until_ended(scene)).why == "changed codex is running"
        assert scene.clock.now() == began


async def test_an_unresponsive_tmux_does_not_end_the_pause(monkeypatch):
    scene = build_scene(unless=("running",))
    real, errors = scene.pane_observer.observe, [MuxError("the control client ended")] * 2

    async def observe(pane, lines):
        if errors and scene.runs.steps_by_run:
            raise errors.pop()
        return await real(pane, lines)

    monkeypatch.setattr(scene.pane_observer, "observe", observe)
    async with run_engine(scene) as engine:
        await engine.start_run(build_manual_run(scene))
        run = await wait_until_ended(scene)
    assert (run.status, run.why, errors) == ("completed", "due", [])


async def test_a_needed_setting_that_is_switched_off_ends_the_pause():
    scene = build_scene(needs=("auto_resume",))
    async with run_engine(scene) as engine:
        await engine.start_run(build_manual_run(scene))
        await advance_time(scene)
        scene.preferences.set_values(auto_resume=False)
        scene.events.publish(Event(at=0, kind="config_reloaded"))
        assert (await wait_until_ended(scene)).why == "changed auto_resume is off"


async def test_switching_a_workflow_off_cancels_its_paused_run():
    scene = build_scene()
    async with run_engine(scene) as engine:
        await engine.start_run(build_manual_run(scene))
        await advance_time(scene)
        scene.modes.modes["refresh"] = "off"
        scene.events.publish(Event(at=0, kind="config_reloaded"))
        run = await wait_until_ended(scene)
    assert (run.status, run.why) == ("cancelled", "refresh is switched off")


async def never() -> str:
    await asyncio.Event().wait()
    return ""


async def soon() -> str:
    return "soon"


async def wrong() -> str:
    raise TimedOut("late")


async def test_the_first_result_wins():
    assert await race(never(), soon()) == "soon"


async def test_the_first_error_is_raised_as_it_is():
    with pytest.raises(TimedOut, match="late"):
        await race(never(), wrong())


async def test_a_race_can_be_cancelled():
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await race(never(), never())


async def test_an_event_or_a_state_from_before_the_run_does_not_count():
    scene = WorkflowScene()
    scene.add_detection()
    await scene.clock.advance(1.0)
    assert await wait_in_run(scene, WaitFor(rule="session.*", timeout=5)) == "timed out after 5 s waiting for rule"
    scene = WorkflowScene()
    scene.pane_observer.change_pane(scene.pane, agent="codex", state="idle", state_at=scene.clock.now())
    await scene.clock.advance(1.0)
    old = WaitFor(state=("idle",), is_new=True, timeout=5)
    assert await wait_in_run(scene, old) == "timed out after 5 s waiting for state"
    again = lambda: scene.pane_observer.change_pane(scene.pane, state_at=scene.clock.now())  # noqa: E731
    assert await wait_in_run(scene, old, again, run=2) == "state: idle"


async def test_a_text_between_two_waits_leaves_a_used_signal_used():
    async def waits(context) -> str:
        first = await context.wait_for(WaitFor(signal="go"))
        await context.wait_for(WaitFor(text="now"))
        try:
            await context.wait_for(WaitFor(signal="go", timeout=3))
        except Exception as error:
            return f"{first.value} then {type(error).__name__}"
        return "twice"

    scene = WorkflowScene(Workflow(name="refresh", summary="", run=waits))
    async with run_engine(scene) as engine:
        run = await engine.start_run(build_manual_run(scene))
        await engine.send_signal(run.id, "go", "one", "human:1")
        scene.services.print_lines(scene.pane, "now")
        assert (await wait_until_ended(scene)).why == "one then TimedOut"
