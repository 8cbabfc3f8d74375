"""Waiting for a condition in a pane."""

import asyncio

import msgspec
import pytest
from msgspec import structs

from termvisor.clock import NS
from termvisor.errors import BadRequest, MuxError, TimedOut
from termvisor.model.event import Event
from termvisor.model.ids import PaneId, RuntimeId
from termvisor.model.workflow import Run, RunId, RunSignal, RunStep
from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.calls import PauseCall, WaitFor
from termvisor.workflows.engine.journaled_calls import LastAction, StepExecution
from termvisor.workflows.results import Observation, WaitResult
from termvisor.workflows.steps.wait import WaitBaseline, build_text_matcher, describe_pane_change, race
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


async def check_once(scene: WorkflowScene, call: WaitFor, note: WaitBaseline | None = None, **run: object):
    """Check a condition once, because the time of the step is over; return None if it is not met."""
    run_ = Run(id=RunId(1), workflow="w", at=1, correlation="c", **{"pane": scene.pane} | run)
    start_note = "" if note is None else msgspec.json.encode(note).decode()
    execution = StepExecution(run=run_, step=RunStep(number=0, kind="wait_for", at=1), start_note=start_note)
    try:
        return await scene.build_engine().step_runner.run_step(call, execution)
    except TimedOut as error:
        assert error.details == {"seconds": call.timeout}
        return None


AGENT = {
    "agent": "codex",
    "state": "idle",
    "state_at": 5,
    "session": "abc",
    "auth_needed": False,
    "screen": ("a", "b c"),
}


@pytest.mark.parametrize(
    ("call", "changes", "expected"),
    [
        (WaitFor(state=("idle",)), {}, WaitResult(what="state", text="idle")),
        (WaitFor(state=("running", "idle")), {}, WaitResult(what="state", text="idle")),
        (WaitFor(state=("running",)), {}, None),
        (WaitFor(state=("unknown",)), {"agent": "", "state": "unknown"}, None),
        (WaitFor(session="abc"), {}, WaitResult(what="session", text="abc")),
        (WaitFor(session="x"), {}, None),
        (WaitFor(session="abc"), {"agent": ""}, None),
        (WaitFor(cleared="auth_needed"), {}, WaitResult(what="cleared", text="auth_needed")),
        (WaitFor(cleared="auth_needed"), {"auth_needed": True}, None),
        (WaitFor(cleared="auth_needed"), {"agent": ""}, None),
        (WaitFor(gone="c"), {}, None),
        (WaitFor(gone="d"), {}, WaitResult(what="gone", text="d")),
        (WaitFor(gone="d"), {"agent": ""}, WaitResult(what="gone", text="d")),
        (WaitFor(prompt=True), {}, None),
        (WaitFor(prompt=True), {"activity": "prompt"}, WaitResult(what="prompt")),
        (WaitFor(text="a"), {}, WaitResult(what="text", text="a")),
        (WaitFor(text="a"), {"agent": "", "is_alternate": True}, WaitResult(what="text", text="a")),
        (WaitFor(text="a"), {"agent": ""}, None),
        (WaitFor(text="c"), {"agent": "", "screen": ("a", "b c", "  ")}, WaitResult(what="text", text="b c")),
        (WaitFor(pattern="^b"), {}, WaitResult(what="pattern", text="b c")),
        (WaitFor(pattern="^c"), {}, None),
        (WaitFor(rule="session.*"), {}, None),
    ],
)
async def test_a_condition_is_met_only_if_all_its_parts_are(call, changes, expected):
    scene = WorkflowScene()
    scene.pane_observer.change_pane(scene.pane, **AGENT | changes)
    assert await check_once(scene, call) == expected


@pytest.mark.parametrize(("since", "is_met"), [(4, True), (5, True), (6, False)])
async def test_a_new_state_is_one_since_the_last_action(since, is_met):
    scene = WorkflowScene()
    scene.pane_observer.change_pane(scene.pane, **AGENT)
    found = await check_once(scene, WaitFor(state=("idle",), is_new=True), WaitBaseline(since=since))
    assert (found is not None) == is_met
    assert await check_once(scene, WaitFor(state=("idle",)), WaitBaseline(since=since)) is not None


@pytest.mark.parametrize(("quiet", "is_met"), [(2.0, True), (3.0, True), (3.5, False)])
async def test_a_pane_is_quiet_since_its_last_output(quiet, is_met):
    scene = WorkflowScene()
    assert await check_once(scene, WaitFor(quiet=quiet)) == WaitResult(what="quiet"), "it never printed anything"
    scene.services.print_lines(scene.pane, "x")
    await scene.clock.advance(3.0)
    assert (await check_once(scene, WaitFor(quiet=quiet)) is not None) == is_met


@pytest.mark.parametrize(
    ("rule", "own_event", "since", "is_met"),
    [
        ("session.*", None, 0, True),
        ("claude.compaction", None, 0, True),
        ("session.start", None, 0, False),
        ("session.*", 1, 0, False),
        ("session.*", 2, 0, True),
        ("session.*", None, 1, False),
    ],
)
async def test_an_event_is_met_by_rule_or_type(rule, own_event, since, is_met):
    scene = WorkflowScene()
    scene.add_detection()
    note = WaitBaseline(since=scene.clock.now() + since)
    expected = WaitResult(what="rule", text="session.compaction", event=1) if is_met else None
    assert await check_once(scene, WaitFor(rule=rule), note, event=own_event) == expected


async def test_a_run_without_a_pane_can_wait_for_a_signal_only():
    scene = WorkflowScene()
    with pytest.raises(BadRequest, match="the run has no pane to wait for"):
        await check_once(scene, WaitFor(text="x"), pane=None)
    await scene.runs.add(Run(workflow="w", at=1, correlation="c"))
    for word in ("go", "go", "stop"):
        await scene.runs.add_signal(RunSignal(run=RunId(1), at=1, word=word, value="on", by="human"))
    for word, after, event in (("go", 0, 1), ("go", 1, 2), ("stop", 0, 3)):
        found = await check_once(scene, WaitFor(signal=word), WaitBaseline(signal=after), pane=None)
        assert found == WaitResult(what="signal", text=word, value="on", event=event)


@pytest.mark.parametrize(
    ("call", "last", "expected"),
    [
        (WaitFor(text="x"), LastAction(), WaitBaseline(after=10)),
        (
            WaitFor(text="x"),
            LastAction(line=7, text="  make test\nmore", at=9),
            WaitBaseline(after=7, echo="make test"),
        ),
        (WaitFor(pattern="x"), LastAction(line=0), WaitBaseline(after=0)),
        (WaitFor(state=("idle",)), LastAction(line=7, at=9, signal=3), WaitBaseline(since=9, signal=3)),
        (WaitFor(state=("idle",)), LastAction(), WaitBaseline(since=5)),
    ],
)
async def test_a_wait_counts_from_the_last_action(call, last, expected):
    scene = WorkflowScene()
    scene.services.print_lines(scene.pane, *map(str, range(60)))
    run = Run(id=RunId(1), workflow="w", at=5, correlation="c", pane=scene.pane)
    found = await scene.build_engine().step_runner.prepare_step(run, call, last)
    assert msgspec.json.decode(found, type=WaitBaseline) == expected
    without = await scene.build_engine().step_runner.prepare_step(structs.replace(run, pane=None), call, last)
    assert msgspec.json.decode(without, type=WaitBaseline) == WaitBaseline(since=last.at or 5, signal=last.signal)


@pytest.mark.parametrize(
    ("call", "seen", "expected"),
    [
        ({"runtime": RuntimeId(4)}, {"agent": "codex", "runtime": 4, "state": "running"}, ""),
        ({"unless": ("running",)}, {"agent": "codex", "runtime": 5, "state": "idle"}, ""),
        ({"unless": ("unknown",)}, {"agent": "", "state": "unknown"}, ""),
        ({"unless": ("idle",)}, {"agent": "codex", "state": "idle"}, "codex is idle"),
    ],
)
def test_a_pause_goes_on_while_its_conditions_hold(call, seen, expected):
    observation = Observation(at=1, pane=PaneId(1), **seen)
    assert describe_pane_change(PauseCall(plan="wait", **call), observation) == expected


async def test_the_first_argument_of_a_race_wins_a_tie():
    assert await race(asyncio.sleep(0, "a"), asyncio.sleep(0, "b")) == "a"


async def test_a_pause_that_needs_an_agent_ends_without_a_pane():
    scene = build_scene(unless=("running",))
    async with run_engine(scene) as engine:
        await engine.start_run(structs.replace(build_manual_run(scene), pane=None))
        assert (await wait_until_ended(scene)).why == "changed the run has no pane"
