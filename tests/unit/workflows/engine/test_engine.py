"""The workflow engine: starting, cancelling, pausing, resuming and ending runs."""

import asyncio

import pytest
from msgspec import structs

from termvisor.clock import NS
from termvisor.errors import Conflict, MuxError, NotDone, Refused, StaleSnapshot, Unavailable, WorkflowNotFound
from termvisor.model.action.approval import Approval
from termvisor.model.event import Event
from termvisor.model.workflow import Run, RunId
from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.calls import WaitFor
from termvisor.workflows.context import Context, StepBack
from termvisor.workflows.steps.act import build_actor, build_run_correlation
from termvisor.workflows.workflow import Trigger, Workflow
from tests.unit.workflows.running_engine import advance_time, run_engine, wait_until_ended

COMPACTED = Trigger(events=("session.compaction",))


def build_workflow(run, name="refresh", **more) -> Workflow:
    return Workflow(name=name, summary="for tests", run=run, trigger=more.pop("trigger", COMPACTED), **more)


def build_manual_run(scene: WorkflowScene, name: str = "refresh") -> Run:
    return Run(
        workflow=name,
        origin="person",
        pane=scene.pane,
        at=scene.clock.now(),
        correlation="c",
        mode="on",
        status="waiting",
    )


async def greets(context: Context) -> str:
    await context.send("hello")
    return "greeted"


async def test_an_event_starts_the_matching_workflow_and_is_handled_when_it_completes():
    scene = WorkflowScene(build_workflow(greets))
    async with run_engine(scene):
        found = scene.add_detection()
        run = await wait_until_ended(scene)
    assert (run.status, run.why, run.event, run.pane) == ("completed", "greeted", found.event, scene.pane)
    assert [action.text for action in scene.gate.executed] == ["hello"]
    assert scene.detections.handling_by_event[found.event].by == "workflow:refresh"
    assert scene.detections.handling_by_event[found.event].run == run.id


async def test_events_before_the_first_start_are_ignored():
    scene = WorkflowScene(build_workflow(greets))
    scene.add_detection()
    async with run_engine(scene):
        await advance_time(scene)
    assert scene.runs.stored_runs == {}


async def test_the_workflow_with_priority_handles_an_event_and_others_are_noted():
    first, other = build_workflow(greets, "b", priority=10), build_workflow(greets, "a", priority=20)
    scene = WorkflowScene(other, first)
    async with run_engine(scene):
        scene.add_detection()
        run = await wait_until_ended(scene)
    assert run.workflow == "b"
    assert run.facts["also_fits"] == "a"
    assert len(scene.runs.stored_runs) == 1


@pytest.mark.parametrize(
    ("event", "more"),
    [
        ("usage.reached", {}),
        ("session.compaction", {"at": 1}),
        ("session.compaction", {"evidence": {"proven": False}}),
    ],
)
async def test_an_event_that_does_not_match_is_old_or_unproven_starts_nothing(event, more):
    scene = WorkflowScene(build_workflow(greets))
    async with run_engine(scene):
        scene.add_detection(event, **more)
        await advance_time(scene)
    assert scene.runs.stored_runs == {}
    assert await scene.runs.read_cursor() == 1


async def test_a_disabled_workflow_is_not_started():
    scene = WorkflowScene(build_workflow(greets))
    scene.modes.modes["refresh"] = "off"
    async with run_engine(scene):
        scene.add_detection()
        await advance_time(scene)
    assert scene.runs.stored_runs == {}


async def test_switching_a_workflow_off_stops_its_open_run():
    async def slowly(context: Context) -> None:
        await context.wait_for(WaitFor(text="go", timeout=60))
        await context.send("hello")

    scene = WorkflowScene(build_workflow(slowly))
    async with run_engine(scene):
        scene.add_detection()
        await advance_time(scene)
        scene.modes.modes["refresh"] = "off"
        scene.services.print_lines(scene.pane, "go")
        run = await wait_until_ended(scene)
    assert (run.status, run.why) == ("cancelled", "refresh is switched off")
    assert scene.gate.executed == []


async def test_mode_ask_requires_approval_for_every_action_but_notifications():
    async def both(context: Context) -> None:
        await context.notify("title", "text")
        await context.send("hello")

    scene = WorkflowScene(build_workflow(both))
    scene.modes.modes["refresh"] = "ask"
    async with run_engine(scene):
        scene.add_detection()
        await wait_until_ended(scene)
    assert [preconditions.asks for preconditions in scene.gate.received_preconditions] == [False, True]


async def test_a_pane_has_one_run_at_a_time_and_the_next_one_is_queued():
    async def waits(context: Context) -> None:
        await context.wait_for(WaitFor(signal="go", timeout=600))

    scene = WorkflowScene(build_workflow(waits))
    async with run_engine(scene) as engine:
        one = await engine.start_run(build_manual_run(scene))
        two = await engine.start_run(build_manual_run(scene))
        await advance_time(scene)
        assert [run.status for run in engine.open_runs] == ["running", "waiting"]
        assert scene.runs.steps_by_run.keys() == {one.id}
        await engine.send_signal(one.id, "go", "", "human:1")
        await wait_until_ended(scene, one.id)
        await engine.send_signal(two.id, "go", "", "human:1")
        assert (await wait_until_ended(scene, two.id)).status == "completed"


async def test_a_workflow_without_takes_pane_does_not_wait_for_the_pane():
    async def waits(context: Context) -> None:
        await context.wait_for(WaitFor(signal="go", timeout=600))

    async def notes(context: Context) -> None:
        await context.note("seen")

    scene = WorkflowScene(build_workflow(waits), build_workflow(notes, "keep", takes_pane=False))
    async with run_engine(scene) as engine:
        await engine.start_run(build_manual_run(scene))
        await advance_time(scene)
        other = await engine.start_run(build_manual_run(scene, "keep"))
        assert (await wait_until_ended(scene, other.id)).status == "completed"


async def test_concurrent_runs_are_limited_and_sleeping_runs_do_not_count():
    async def works(context: Context) -> None:
        await context.wait_for(WaitFor(signal="go", timeout=600))

    async def sleeps(context: Context) -> None:
        await context.sleep(60)

    scene = WorkflowScene(build_workflow(works, takes_pane=False), build_workflow(sleeps, "nap", takes_pane=False))
    scene.max_concurrent = 1
    async with run_engine(scene) as engine:
        await engine.start_run(build_manual_run(scene, "nap"))
        await advance_time(scene)
        first, second = await engine.start_run(build_manual_run(scene)), await engine.start_run(build_manual_run(scene))
        await advance_time(scene)
        assert first.id in scene.runs.steps_by_run
        assert second.id not in scene.runs.steps_by_run
        await engine.send_signal(first.id, "go", "", "human:1")
        await advance_time(scene)
        assert second.id in scene.runs.steps_by_run


async def test_a_workflow_that_raises_fails_only_its_own_run():
    async def throws(_context: Context) -> None:
        raise KeyError("mine")

    scene = WorkflowScene(build_workflow(throws, "bad", trigger=Trigger(events=("x",))), build_workflow(greets))
    async with run_engine(scene):
        scene.add_detection("x")
        run = await wait_until_ended(scene, 1)
        scene.add_detection()
        other = await wait_until_ended(scene, 2)
    assert (run.status, run.why) == ("failed", "KeyError: 'mine'")
    assert other.status == "completed"


async def test_a_workflow_that_hangs_outside_its_context_is_ended():
    async def hangs(_context: Context) -> None:
        await asyncio.Event().wait()

    scene = WorkflowScene(build_workflow(hangs))
    async with run_engine(scene):
        scene.add_detection()
        run = await wait_until_ended(scene)
    assert run.status == "failed"
    assert "hung" in run.why


async def test_a_step_that_hangs_is_ended_and_the_pane_is_free_again():
    scene = WorkflowScene(build_workflow(greets))
    scene.gate.hangs = True
    async with run_engine(scene):
        scene.add_detection()
        run = await wait_until_ended(scene, 1, seconds=2000)
        scene.gate.hangs = False
        scene.add_detection()
        other = await wait_until_ended(scene, 2)
    assert run.status == "failed"
    assert (await scene.runs.list_steps(RunId(1)))[0].status == "skipped"
    assert other.status == "completed"


async def test_a_run_that_raises_step_back_is_cancelled():
    async def steps_back(_context: Context) -> None:
        raise StepBack("nothing to do")

    scene = WorkflowScene(build_workflow(steps_back))
    async with run_engine(scene):
        scene.add_detection()
        run = await wait_until_ended(scene)
    assert (run.status, run.why) == ("cancelled", "nothing to do")


async def test_an_action_refused_because_a_user_types_is_retried():
    scene = WorkflowScene(build_workflow(greets))
    busy = StaleSnapshot("a user is typing", details={"outcome": "refused", "why": "human_typing"})
    scene.gate.errors = [busy, busy]
    async with run_engine(scene):
        scene.add_detection()
        run = await wait_until_ended(scene)
    assert run.status == "completed"
    step = (await scene.runs.list_steps(run.id))[0]
    assert (step.attempt, step.status) == (3, "completed")
    assert [preconditions.key for preconditions in scene.gate.received_preconditions] == [
        f"event:1.1.0.{attempt}" for attempt in (1, 2, 3)
    ]


async def test_a_denied_action_ends_the_run_and_is_not_retried():
    scene = WorkflowScene(build_workflow(greets))
    scene.gate.errors = [Refused("the policy says no: quiet hours", details={"outcome": "denied"})] * 9
    async with run_engine(scene):
        scene.add_detection()
        run = await wait_until_ended(scene)
    assert (run.status, run.why) == ("failed", "the policy says no: quiet hours")
    assert len(scene.gate.received_preconditions) == 1


async def test_a_persons_denial_cancels_the_run():
    scene = WorkflowScene(build_workflow(greets))
    scene.gate.errors = [Refused("a person said no (question 1)", details={"why": "denied"})]
    async with run_engine(scene):
        scene.add_detection()
        run = await wait_until_ended(scene)
    assert run.status == "cancelled"


async def test_a_workflow_may_catch_a_refused_action():
    async def careful(context: Context) -> str:
        try:
            await context.send("hello")
        except NotDone as error:
            return f"{error.status}: {error.why}"
        return "done"

    scene = WorkflowScene(build_workflow(careful))
    scene.gate.errors = [StaleSnapshot("no", details={"outcome": "refused", "why": "alternate_screen"})]
    async with run_engine(scene):
        scene.add_detection()
        run = await wait_until_ended(scene)
    assert (run.status, run.why) == ("completed", "refused: alternate_screen")


@pytest.mark.parametrize("kind", ["pane_gone", "agent_ended"])
async def test_a_run_whose_pane_or_agent_is_gone_is_cancelled(kind):
    async def waits(context: Context) -> None:
        await context.wait_for(WaitFor(signal="go", timeout=600))

    scene = WorkflowScene(build_workflow(waits))
    scene.pane_observer.change_pane(scene.pane, agent="claude_code", runtime=5)
    async with run_engine(scene):
        scene.add_detection(runtime=5, agent="claude_code")
        await advance_time(scene)
        scene.events.publish(Event(at=1, kind=kind, pane=scene.pane))
        run = await wait_until_ended(scene)
    assert run.status == "cancelled"


async def test_a_run_whose_pane_closed_without_a_daemon_is_cancelled():
    async def waits(context: Context) -> None:
        await context.wait_for(WaitFor(signal="go", timeout=600))

    scene = WorkflowScene(build_workflow(waits))
    async with run_engine(scene):
        scene.add_detection()
        await advance_time(scene)
    scene.services.remove_pane(scene.pane)
    async with run_engine(scene):
        run = await wait_until_ended(scene)
    assert (run.status, run.why) == ("cancelled", "pane 1 no longer exists")


async def test_a_run_of_a_version_that_is_no_longer_installed_fails_with_a_hint():
    async def waits(context: Context) -> None:
        await context.wait_for(WaitFor(signal="go", timeout=600))

    scene = WorkflowScene(build_workflow(waits))
    async with run_engine(scene):
        scene.add_detection()
        await advance_time(scene)
    scene.registry = WorkflowScene(build_workflow(waits, version=2)).registry
    async with run_engine(scene):
        run = await wait_until_ended(scene)
    assert run.status == "failed"
    assert run.why.startswith("refresh was changed after this run started; the run stopped at step 0 (wait_for signal)")
    assert "`visor workflow run refresh 1 --force` starts it again" in run.why
    assert [step.status for step in await scene.runs.list_steps(run.id)] == ["skipped"]


async def test_cancel_ends_a_run_and_its_cleanup_is_done_once():
    cleaned = []

    async def waits(context: Context) -> None:
        await context.wait_for(WaitFor(signal="go", timeout=600))

    async def cleanup(context: Context) -> None:
        await context.note("tidy")
        cleaned.append(1)

    scene = WorkflowScene(build_workflow(waits, cleanup=cleanup))
    async with run_engine(scene) as engine:
        scene.add_detection()
        await advance_time(scene)
        await engine.cancel(RunId(1), "not now", "human:1")
        run = await wait_until_ended(scene)
        with pytest.raises(Conflict, match="run 1 is cancelled"):
            await engine.cancel(RunId(1), "", "human:1")
    assert (run.status, run.why) == ("cancelled", "not now")
    assert [(step.kind, step.status) for step in await scene.runs.list_steps(run.id)] == [
        ("wait_for", "skipped"),
        ("end", "completed"),
        ("note", "completed"),
    ]
    assert cleaned == [1]


async def test_a_queued_run_can_be_cancelled_at_once():
    async def waits(context: Context) -> None:
        await context.wait_for(WaitFor(signal="go", timeout=600))

    scene = WorkflowScene(build_workflow(waits))
    async with run_engine(scene) as engine:
        await engine.start_run(build_manual_run(scene))
        second = await engine.start_run(build_manual_run(scene))
        await engine.cancel(second.id, "never mind", "human:1")
        assert scene.runs.stored_runs[second.id].status == "cancelled"
        with pytest.raises(WorkflowNotFound):
            await engine.cancel(RunId(99), "", "human:1")


async def test_a_run_is_paused_and_resumed_by_a_person_also_after_a_restart():
    async def waits(context: Context) -> str:
        await context.wait_for(WaitFor(signal="go", timeout=6000))
        await context.send("hello")
        return "done"

    scene = WorkflowScene(build_workflow(waits))
    async with run_engine(scene) as engine:
        scene.add_detection()
        await advance_time(scene)
        assert (await engine.pause(RunId(1), "wait a bit")).status == "paused"
        await engine.send_signal(RunId(1), "go", "", "human:1")
        await advance_time(scene, times=5)
        assert scene.gate.executed == []
    async with run_engine(scene) as engine:
        await advance_time(scene, times=5)
        assert (scene.gate.executed, scene.runs.stored_runs[RunId(1)].status) == ([], "paused")
        await engine.resume(RunId(1), "human:1")
        assert (await wait_until_ended(scene)).status == "completed"
    assert len(scene.gate.executed) == 1


async def test_a_run_paused_by_a_person_during_its_own_pause_returns_to_it():
    async def limited(context: Context) -> str:
        return (await context.pause("resume at noon", await context.now() + 3600 * NS)).why

    scene = WorkflowScene(build_workflow(limited))
    async with run_engine(scene) as engine:
        scene.add_detection()
        await advance_time(scene)
        held = await engine.pause(RunId(1), "")
        assert (held.why, held.due_at, held.plan) == ("held", None, "")
        await advance_time(scene)
        await engine.resume(RunId(1), "human:1")
        await advance_time(scene, times=5)
        again = scene.runs.stored_runs[RunId(1)]
        assert (again.status, again.plan) == ("paused", "resume at noon")
        await advance_time(scene, 3601.0)
        assert (await wait_until_ended(scene)).why == "due"


async def test_a_run_that_is_not_resumed_yet_is_reported_as_unavailable():
    async def waits(context: Context) -> None:
        await context.wait_for(WaitFor(signal="go", timeout=6000))

    scene = WorkflowScene(build_workflow(waits))
    async with run_engine(scene):
        scene.add_detection()
        await advance_time(scene)
    with pytest.raises(Unavailable, match="not resumed yet"):
        await scene.build_engine().cancel(RunId(1), "", "human:1")


async def test_a_waiting_run_names_the_possible_answers():
    async def asks(context: Context) -> None:
        await context.ask_person("Go on?", ("go", "stop"), 600)

    scene = WorkflowScene(build_workflow(asks))
    scene.gate.hangs = True
    async with run_engine(scene):
        scene.add_detection()
        await advance_time(scene)
        assert scene.runs.stored_runs[RunId(1)].why == "waiting for an answer (go or stop): see `visor inbox`"


@pytest.mark.parametrize("is_due", [True, False])
async def test_a_safe_pause_has_a_plan_and_ends_when_due_or_resumed(is_due):
    async def limited(context: Context) -> str:
        until = await context.now() + 3600 * NS
        return (await context.pause("resume at noon: codex resume 1", until)).why

    scene = WorkflowScene(build_workflow(limited))
    async with run_engine(scene) as engine:
        found = scene.add_detection()
        await advance_time(scene)
        paused = scene.runs.stored_runs[RunId(1)]
        assert (paused.status, paused.plan) == ("paused", "resume at noon: codex resume 1")
        assert paused.due_at is not None
        assert found.event in scene.detections.handling_by_event
    async with run_engine(scene) as engine:
        await advance_time(scene, 3601.0 if is_due else 1.0)
        if not is_due:
            await engine.resume(RunId(1), "human:1")
        run = await wait_until_ended(scene)
    assert run.why == ("due" if is_due else "resumed")


async def test_a_run_that_waits_for_approval_is_waiting_and_has_no_slot():
    scene = WorkflowScene(build_workflow(greets, takes_pane=False))
    scene.max_concurrent, scene.gate.hangs = 1, True
    async with run_engine(scene) as engine:
        scene.add_detection()
        await advance_time(scene)
        run = engine.open_runs[0]
        question = Approval(
            id=7,
            at=1,
            expires_at=2,
            correlation=f"{build_run_correlation(run)}.0.1",
            action_hash="",
            kind="send_text",
            actor=build_actor(run),
            risk="input",
        )
        scene.approval_bus.publish(question)
        await advance_time(scene, 1000.0)
        assert engine.open_runs[0].status == "waiting"
        assert "request 7" in engine.open_runs[0].why
        scene.gate.hangs = False
        second = await engine.start_run(build_manual_run(scene))
        assert (await wait_until_ended(scene, second.id)).status == "completed"


async def test_an_event_starts_one_run_over_daemon_restarts():
    scene = WorkflowScene(build_workflow(greets))
    async with run_engine(scene):
        await advance_time(scene)
    for _ in range(3):
        scene.add_detection()
        async with run_engine(scene):
            await advance_time(scene, times=3)
    assert [run.event for run in scene.runs.stored_runs.values()] == [1, 2, 3]
    assert len(scene.gate.executed) == 3


async def asking(context: Context) -> None:
    await context.send("hello")
    await context.send("again")


async def run_with_open_approval() -> WorkflowScene:
    """A run whose first approval request stays open."""
    scene = WorkflowScene(build_workflow(asking))
    scene.gate.hangs = True
    async with run_engine(scene):
        scene.add_detection()
        await advance_time(scene)
    return scene


@pytest.mark.parametrize("how", ["cancel", "hold"])
async def test_the_approval_requests_of_an_ended_or_paused_run_are_withdrawn(how):
    scene = WorkflowScene(build_workflow(asking))
    scene.gate.hangs = True
    async with run_engine(scene) as engine:
        scene.add_detection()
        await advance_time(scene)
        run = scene.runs.stored_runs[RunId(1)]
        assert scene.gate.withdrawn_correlations == []
        await (engine.cancel(RunId(1), "", "human:1") if how == "cancel" else engine.pause(RunId(1), ""))
        await advance_time(scene)
        assert scene.gate.withdrawn_correlations == [f"{run.correlation}.1"]


async def test_a_daemon_that_exits_leaves_its_approval_requests_open():
    scene = await run_with_open_approval()
    assert scene.gate.withdrawn_correlations == []


async def test_a_workflow_switched_off_during_an_approval_executes_nothing():
    scene = await run_with_open_approval()
    async with run_engine(scene):
        await advance_time(scene)
        scene.modes.modes["refresh"] = "off"
        scene.events.publish(Event(at=1, kind="config_reloaded"))
        run = await wait_until_ended(scene)
    assert (run.status, run.why) == ("cancelled", "refresh is switched off")
    assert scene.gate.withdrawn_correlations == [f"{run.correlation}.1"]


async def test_a_workflow_switched_off_without_a_daemon_executes_nothing():
    scene = await run_with_open_approval()
    scene.modes.modes["refresh"] = "off"
    async with run_engine(scene):
        run = await wait_until_ended(scene)
    assert (run.status, run.why) == ("cancelled", "refresh is switched off")


def build_approval(run: Run, **more) -> Approval:
    return Approval(
        id=7, at=1, expires_at=2, correlation=f"{build_run_correlation(run)}.0.1", action_hash="", kind="send_text",
        actor=build_actor(run), risk="input", **more,
    )  # fmt: skip


async def test_a_run_that_goes_on_no_longer_shows_why_it_waited():
    async def waits(context: Context) -> None:
        await context.sleep_until(await context.now() + 60 * NS)
        await context.send("hello")

    scene = WorkflowScene(build_workflow(waits))
    scene.gate.hangs = True
    async with run_engine(scene) as engine:
        await engine.start_run(build_manual_run(scene))
        await advance_time(scene)
        (run,) = engine.open_runs
        assert (run.status, run.why, run.due_at) == ("waiting", "waiting for a time", scene.clock.now() + 60 * NS)
        await advance_time(scene, 60.0)
        (run,) = engine.open_runs
        assert (run.status, run.why, run.due_at) == ("running", "", None)
        for state, status, why in (("open", "waiting", "requires approval (request 7)"), ("allowed", "running", "")):
            scene.approval_bus.publish(build_approval(run, state=state))
            await advance_time(scene)
            assert [(run.status, run.why) for run in engine.open_runs] == [(status, why)]
            assert (scene.runs.stored_runs[run.id].status, scene.runs.stored_runs[run.id].why) == (status, why)


async def test_only_the_approvals_of_a_runs_own_actions_suspend_it():
    scene = WorkflowScene(build_workflow(greets))
    scene.gate.hangs = True
    async with run_engine(scene) as engine:
        await engine.start_run(build_manual_run(scene))
        await advance_time(scene)
        (run,) = engine.open_runs
        for other in ({"kind": "ask_person"}, {"correlation": f"{build_run_correlation(run)}0.1.1"}):
            scene.approval_bus.publish(structs.replace(build_approval(run), **other))
            await advance_time(scene)
            assert [run.status for run in engine.open_runs] == ["running"]


async def test_a_run_whose_event_cannot_be_read_fails_with_the_reason(monkeypatch):
    scene = WorkflowScene(build_workflow(greets))

    async def find(_event) -> None:
        raise NotDone("the event is unreadable", details={"status": "failed", "why": "x"})

    async with run_engine(scene):
        monkeypatch.setattr(scene.detections, "find", find)
        scene.add_detection()
        run = await wait_until_ended(scene)
    assert (run.status, run.why, scene.gate.executed) == ("failed", "the event is unreadable", [])


async def test_the_first_reason_to_stop_a_run_counts():
    async def waits(context: Context) -> None:
        await context.wait_for(WaitFor(signal="go", timeout=600))

    scene = WorkflowScene(build_workflow(waits))
    async with run_engine(scene):
        scene.add_detection(runtime=None)
        await advance_time(scene)
        scene.events.publish(Event(at=1, kind="pane_gone", pane=scene.pane))
        scene.events.publish(Event(at=1, kind="config_reloaded"))
        scene.modes.modes["refresh"] = "off"
        run = await wait_until_ended(scene)
    assert (run.status, run.why) == ("cancelled", f"pane {scene.pane} no longer exists")


async def test_a_run_waits_for_a_slot_after_a_sleep():
    async def sleeps(context: Context) -> None:
        await context.sleep(5)
        await context.note("awake")

    async def works(context: Context) -> None:
        await context.wait_for(WaitFor(signal="go", timeout=60))

    scene = WorkflowScene(build_workflow(sleeps, takes_pane=False), build_workflow(works, "busy", takes_pane=False))
    scene.max_concurrent = 1
    async with run_engine(scene) as engine:
        sleeper = await engine.start_run(build_manual_run(scene))
        busy = await engine.start_run(build_manual_run(scene, "busy"))
        await advance_time(scene, 1.0, 8)
        assert scene.runs.stored_runs[sleeper.id].status == "waiting"
        await engine.send_signal(busy.id, "go", "", "human:1")
        assert (await wait_until_ended(scene, sleeper.id)).status == "completed"


async def test_a_pane_that_cannot_be_observed_does_not_keep_a_run_from_starting(monkeypatch):
    scene = WorkflowScene(build_workflow(greets))
    real, errors = scene.pane_observer.observe, [MuxError("no answer")]

    async def observe(pane, lines):
        if errors:
            raise errors.pop()
        return await real(pane, lines)

    monkeypatch.setattr(scene.pane_observer, "observe", observe)
    async with run_engine(scene):
        scene.add_detection()
        assert (await wait_until_ended(scene)).status == "completed"


async def test_a_completed_run_without_a_text_is_handled_as_completed():
    async def works(_context: Context) -> None:
        return None

    scene = WorkflowScene(build_workflow(works))
    async with run_engine(scene):
        found = scene.add_detection()
        await wait_until_ended(scene)
    assert scene.detections.handling_by_event[found.event].action == "completed"


async def test_a_queued_run_that_a_person_pauses_does_not_start_when_its_pane_is_free():
    async def waits(context: Context) -> None:
        await context.wait_for(WaitFor(signal="go", timeout=600))

    scene = WorkflowScene(build_workflow(waits))
    async with run_engine(scene) as engine:
        one = await engine.start_run(build_manual_run(scene))
        two = await engine.start_run(build_manual_run(scene))
        await advance_time(scene)
        await engine.pause(two.id, "later")
        await engine.send_signal(one.id, "go", "", "human:1")
        await wait_until_ended(scene, one.id)
        await advance_time(scene, 1.0, 3)
        assert (scene.runs.stored_runs[two.id].status, scene.runs.stored_runs[two.id].why) == ("paused", "held: later")
        assert two.id not in scene.runs.steps_by_run
        await engine.resume(two.id, "human:1")
        await engine.send_signal(two.id, "go", "", "human:1")
        assert (await wait_until_ended(scene, two.id)).status == "completed"
