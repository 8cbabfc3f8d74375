"""The engine: events become runs, and every run comes to an end."""

import asyncio

import pytest

from termvisor.clock import NS
from termvisor.errors import Conflict, NotDone, NoWorkflow, Refused, StaleSnapshot, Unavailable
from termvisor.model.action.approval import Approval
from termvisor.model.event import Event
from termvisor.model.workflow.run import Run, RunId
from termvisor.testing.runs import Scene
from termvisor.workflows.calls import WaitFor
from termvisor.workflows.context import Context, StepBack
from termvisor.workflows.steps.act import actor_of, story_of
from termvisor.workflows.workflow import Trigger, Workflow
from tests.unit.workflows.living import ended, living, pass_time

COMPACTED = Trigger(events=("session.compaction",))


def workflow(run, name="refresh", **more) -> Workflow:
    return Workflow(name=name, summary="for tests", run=run, trigger=more.pop("trigger", COMPACTED), **more)


def asked_for(scene: Scene, name: str = "refresh") -> Run:
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


async def test_an_event_starts_the_workflow_that_fits_it_and_counts_as_handled_when_it_is_done():
    scene = Scene(workflow(greets))
    async with living(scene):
        found = scene.find()
        run = await ended(scene)
    assert (run.status, run.why, run.event, run.pane) == ("completed", "greeted", found.event, scene.pane)
    assert [action.text for action in scene.hands.done] == ["hello"]
    assert scene.detected.handled[found.event].by == "workflow:refresh"
    assert scene.detected.handled[found.event].run == run.id


async def test_events_of_before_the_first_start_are_left_alone():
    scene = Scene(workflow(greets))
    scene.find()
    async with living(scene):
        await pass_time(scene)
    assert scene.runs.kept == {}


async def test_one_workflow_answers_an_event_by_priority_and_the_others_are_noted():
    first, other = workflow(greets, "b", priority=10), workflow(greets, "a", priority=20)
    scene = Scene(other, first)
    async with living(scene):
        scene.find()
        run = await ended(scene)
    assert run.workflow == "b"
    assert run.facts["also_fits"] == "a"
    assert len(scene.runs.kept) == 1


@pytest.mark.parametrize(
    ("event", "more"),
    [
        ("usage.reached", {}),
        ("session.compaction", {"at": 1}),
        ("session.compaction", {"evidence": {"proven": False}}),
    ],
)
async def test_what_does_not_fit_is_too_old_or_unproven_starts_nothing(event, more):
    scene = Scene(workflow(greets))
    async with living(scene):
        scene.find(event, **more)
        await pass_time(scene)
    assert scene.runs.kept == {}
    assert scene.runs.at_event == 1


async def test_a_workflow_that_is_off_is_not_started():
    scene = Scene(workflow(greets))
    scene.modes.modes["refresh"] = "off"
    async with living(scene):
        scene.find()
        await pass_time(scene)
    assert scene.runs.kept == {}


async def test_switching_off_is_honoured_by_a_run_that_is_under_way():
    async def slowly(context: Context) -> None:
        await context.wait_for(WaitFor(text="go", timeout=60))
        await context.send("hello")

    scene = Scene(workflow(slowly))
    async with living(scene):
        scene.find()
        await pass_time(scene)
        scene.modes.modes["refresh"] = "off"
        scene.world.say(scene.pane, "go")
        run = await ended(scene)
    assert (run.status, run.why) == ("cancelled", "refresh is switched off")
    assert scene.hands.done == []


async def test_a_run_in_mode_ask_wants_every_act_asked_about_and_no_notification():
    async def both(context: Context) -> None:
        await context.notify("title", "text")
        await context.send("hello")

    scene = Scene(workflow(both))
    scene.modes.modes["refresh"] = "ask"
    async with living(scene):
        scene.find()
        await ended(scene)
    assert [terms.asks for terms in scene.hands.terms] == [False, True]


async def test_a_pane_has_one_run_at_a_time_and_the_next_one_waits_for_its_turn():
    async def waits(context: Context) -> None:
        await context.wait_for(WaitFor(signal="go", timeout=600))

    scene = Scene(workflow(waits))
    async with living(scene) as engine:
        one = await engine.begin(asked_for(scene))
        two = await engine.begin(asked_for(scene))
        await pass_time(scene)
        assert [run.status for run in engine.open] == ["running", "waiting"]
        assert scene.runs.journal.keys() == {one.id}
        await engine.signal(one.id, "go", "", "human:1")
        await ended(scene, one.id)
        await engine.signal(two.id, "go", "", "human:1")
        assert (await ended(scene, two.id)).status == "completed"


async def test_a_workflow_that_leaves_its_pane_alone_does_not_wait_for_it():
    async def waits(context: Context) -> None:
        await context.wait_for(WaitFor(signal="go", timeout=600))

    async def notes(context: Context) -> None:
        await context.note("seen")

    scene = Scene(workflow(waits), workflow(notes, "keep", takes_pane=False))
    async with living(scene) as engine:
        await engine.begin(asked_for(scene))
        await pass_time(scene)
        other = await engine.begin(asked_for(scene, "keep"))
        assert (await ended(scene, other.id)).status == "completed"


async def test_no_more_runs_work_at_once_than_may_and_those_that_sleep_do_not_count():
    async def works(context: Context) -> None:
        await context.wait_for(WaitFor(signal="go", timeout=600))

    async def sleeps(context: Context) -> None:
        await context.sleep(60)

    scene = Scene(workflow(works, takes_pane=False), workflow(sleeps, "nap", takes_pane=False))
    scene.most = 1
    async with living(scene) as engine:
        await engine.begin(asked_for(scene, "nap"))
        await pass_time(scene)
        first, second = await engine.begin(asked_for(scene)), await engine.begin(asked_for(scene))
        await pass_time(scene)
        assert first.id in scene.runs.journal
        assert second.id not in scene.runs.journal
        await engine.signal(first.id, "go", "", "human:1")
        await pass_time(scene)
        assert second.id in scene.runs.journal


async def test_a_workflow_that_throws_fails_its_run_and_disturbs_no_other():
    async def throws(_context: Context) -> None:
        raise KeyError("mine")

    scene = Scene(workflow(throws, "bad", trigger=Trigger(events=("x",))), workflow(greets))
    async with living(scene):
        scene.find("x")
        run = await ended(scene, 1)
        scene.find()
        other = await ended(scene, 2)
    assert (run.status, run.why) == ("failed", "KeyError: 'mine'")
    assert other.status == "completed"


async def test_a_workflow_that_hangs_outside_its_context_is_ended():
    async def hangs(_context: Context) -> None:
        await asyncio.Event().wait()

    scene = Scene(workflow(hangs))
    async with living(scene):
        scene.find()
        run = await ended(scene)
    assert run.status == "failed"
    assert "hung" in run.why


async def test_a_step_that_hangs_is_ended_and_the_pane_is_free_again():
    scene = Scene(workflow(greets))
    scene.hands.hangs = True
    async with living(scene):
        scene.find()
        run = await ended(scene, 1, seconds=2000)
        scene.hands.hangs = False
        scene.find()
        other = await ended(scene, 2)
    assert run.status == "failed"
    assert (await scene.runs.steps(RunId(1)))[0].status == "skipped"
    assert other.status == "completed"


async def test_a_run_may_step_back():
    async def steps_back(_context: Context) -> None:
        raise StepBack("nothing to do")

    scene = Scene(workflow(steps_back))
    async with living(scene):
        scene.find()
        run = await ended(scene)
    assert (run.status, run.why) == ("cancelled", "nothing to do")


async def test_an_act_that_meets_a_person_typing_is_tried_again_within_its_budget():
    scene = Scene(workflow(greets))
    busy = StaleSnapshot("somebody types", details={"outcome": "refused", "why": "human_typing"})
    scene.hands.errors = [busy, busy]
    async with living(scene):
        scene.find()
        run = await ended(scene)
    assert run.status == "completed"
    step = (await scene.runs.steps(run.id))[0]
    assert (step.attempt, step.status) == (3, "completed")
    assert [terms.key for terms in scene.hands.terms] == [f"event-1.1.0.{attempt}" for attempt in (1, 2, 3)]


async def test_an_act_that_is_denied_ends_the_run_with_the_reason_and_is_not_tried_again():
    scene = Scene(workflow(greets))
    scene.hands.errors = [Refused("the policy says no: quiet hours", details={"outcome": "denied"})] * 9
    async with living(scene):
        scene.find()
        run = await ended(scene)
    assert (run.status, run.why) == ("failed", "the policy says no: quiet hours")
    assert len(scene.hands.terms) == 1


async def test_a_persons_no_cancels_the_run():
    scene = Scene(workflow(greets))
    scene.hands.errors = [Refused("a person said no (question 1)", details={"why": "denied"})]
    async with living(scene):
        scene.find()
        run = await ended(scene)
    assert run.status == "cancelled"


async def test_a_workflow_may_catch_what_was_not_done():
    async def careful(context: Context) -> str:
        try:
            await context.send("hello")
        except NotDone as error:
            return f"{error.status}: {error.why}"
        return "done"

    scene = Scene(workflow(careful))
    scene.hands.errors = [StaleSnapshot("no", details={"outcome": "refused", "why": "alternate_screen"})]
    async with living(scene):
        scene.find()
        run = await ended(scene)
    assert (run.status, run.why) == ("completed", "refused: alternate_screen")


@pytest.mark.parametrize("kind", ["pane_gone", "agent_ended"])
async def test_a_run_whose_pane_or_agent_is_gone_is_cancelled(kind):
    async def waits(context: Context) -> None:
        await context.wait_for(WaitFor(signal="go", timeout=600))

    scene = Scene(workflow(waits))
    scene.sight.change(scene.pane, agent="claude_code", runtime=5)
    async with living(scene):
        scene.find(runtime=5, agent="claude_code")
        await pass_time(scene)
        scene.events.publish(Event(at=1, kind=kind, pane=scene.pane))
        run = await ended(scene)
    assert run.status == "cancelled"


async def test_a_run_whose_pane_went_while_no_daemon_ran_is_cancelled():
    async def waits(context: Context) -> None:
        await context.wait_for(WaitFor(signal="go", timeout=600))

    scene = Scene(workflow(waits))
    async with living(scene):
        scene.find()
        await pass_time(scene)
    scene.world.end(scene.pane)
    async with living(scene):
        run = await ended(scene)
    assert (run.status, run.why) == ("cancelled", "pane 1 no longer exists")


async def test_a_run_of_a_version_that_is_no_longer_installed_fails_with_a_hint():
    async def waits(context: Context) -> None:
        await context.wait_for(WaitFor(signal="go", timeout=600))

    scene = Scene(workflow(waits))
    async with living(scene):
        scene.find()
        await pass_time(scene)
    scene.shelf = Scene(workflow(waits, version=2)).shelf
    async with living(scene):
        run = await ended(scene)
    assert run.status == "failed"
    assert run.why.startswith("refresh was changed after this run began, and the run stood at step 0 (wait_for signal)")
    assert "`visor workflow run refresh 1 --force` starts it again" in run.why
    assert [step.status for step in await scene.runs.steps(run.id)] == ["skipped"]


async def test_cancel_ends_a_run_and_its_cleanup_is_done_once():
    cleaned = []

    async def waits(context: Context) -> None:
        await context.wait_for(WaitFor(signal="go", timeout=600))

    async def cleanup(context: Context) -> None:
        await context.note("tidy")
        cleaned.append(1)

    scene = Scene(workflow(waits, cleanup=cleanup))
    async with living(scene) as engine:
        scene.find()
        await pass_time(scene)
        await engine.cancel(RunId(1), "not now", "human:1")
        run = await ended(scene)
        with pytest.raises(Conflict, match="run 1 is cancelled"):
            await engine.cancel(RunId(1), "", "human:1")
    assert (run.status, run.why) == ("cancelled", "not now")
    assert [(step.kind, step.status) for step in await scene.runs.steps(run.id)] == [
        ("wait_for", "skipped"),
        ("end", "completed"),
        ("note", "completed"),
    ]
    assert cleaned == [1]


async def test_a_run_that_waits_for_its_turn_can_be_cancelled_at_once():
    async def waits(context: Context) -> None:
        await context.wait_for(WaitFor(signal="go", timeout=600))

    scene = Scene(workflow(waits))
    async with living(scene) as engine:
        await engine.begin(asked_for(scene))
        second = await engine.begin(asked_for(scene))
        await engine.cancel(second.id, "never mind", "human:1")
        assert scene.runs.kept[second.id].status == "cancelled"
        with pytest.raises(NoWorkflow):
            await engine.cancel(RunId(99), "", "human:1")


async def test_a_person_holds_a_run_and_lets_it_go_on_also_after_a_restart():
    async def waits(context: Context) -> str:
        await context.wait_for(WaitFor(signal="go", timeout=6000))
        await context.send("hello")
        return "done"

    scene = Scene(workflow(waits))
    async with living(scene) as engine:
        scene.find()
        await pass_time(scene)
        assert (await engine.pause(RunId(1), "wait a bit")).status == "paused"
        await engine.signal(RunId(1), "go", "", "human:1")
        await pass_time(scene, times=5)
        assert scene.hands.done == []
    async with living(scene) as engine:
        await pass_time(scene, times=5)
        assert (scene.hands.done, scene.runs.kept[RunId(1)].status) == ([], "paused")
        await engine.resume(RunId(1), "human:1")
        assert (await ended(scene)).status == "completed"
    assert len(scene.hands.done) == 1


async def test_a_run_that_is_held_in_its_own_pause_goes_back_to_it():
    async def limited(context: Context) -> str:
        return (await context.pause("resume at noon", await context.now() + 3600 * NS)).why

    scene = Scene(workflow(limited))
    async with living(scene) as engine:
        scene.find()
        await pass_time(scene)
        held = await engine.pause(RunId(1), "")
        assert (held.why, held.due_at, held.plan) == ("held", None, "")
        await pass_time(scene)
        await engine.resume(RunId(1), "human:1")
        await pass_time(scene, times=5)
        again = scene.runs.kept[RunId(1)]
        assert (again.status, again.plan) == ("paused", "resume at noon")
        await pass_time(scene, 3601.0)
        assert (await ended(scene)).why == "due"


async def test_a_run_that_was_not_taken_up_yet_is_not_said_to_have_ended():
    async def waits(context: Context) -> None:
        await context.wait_for(WaitFor(signal="go", timeout=6000))

    scene = Scene(workflow(waits))
    async with living(scene):
        scene.find()
        await pass_time(scene)
    with pytest.raises(Unavailable, match="not taken up yet"):
        await scene.engine().cancel(RunId(1), "", "human:1")


async def test_a_run_that_asks_says_what_a_person_must_say():
    async def asks(context: Context) -> None:
        await context.ask_person("Go on?", ("go", "stop"), 600)

    scene = Scene(workflow(asks))
    scene.hands.hangs = True
    async with living(scene):
        scene.find()
        await pass_time(scene)
        assert scene.runs.kept[RunId(1)].why == "a person must say go or stop: `visor inbox` asks"


@pytest.mark.parametrize("is_due", [True, False])
async def test_a_safe_pause_has_a_plan_counts_as_handled_and_ends_at_its_time_or_by_a_person(is_due):
    async def limited(context: Context) -> str:
        until = await context.now() + 3600 * NS
        return (await context.pause("resume at noon: codex resume 1", until)).why

    scene = Scene(workflow(limited))
    async with living(scene) as engine:
        found = scene.find()
        await pass_time(scene)
        paused = scene.runs.kept[RunId(1)]
        assert (paused.status, paused.plan) == ("paused", "resume at noon: codex resume 1")
        assert paused.due_at is not None
        assert found.event in scene.detected.handled
    async with living(scene) as engine:
        await pass_time(scene, 3601.0 if is_due else 1.0)
        if not is_due:
            await engine.resume(RunId(1), "human:1")
        run = await ended(scene)
    assert run.why == ("due" if is_due else "resumed")


async def test_a_run_whose_act_waits_for_a_persons_yes_is_shown_as_waiting_and_takes_no_place():
    scene = Scene(workflow(greets, takes_pane=False))
    scene.most, scene.hands.hangs = 1, True
    async with living(scene) as engine:
        scene.find()
        await pass_time(scene)
        run = engine.open[0]
        question = Approval(
            id=7,
            at=1,
            expires_at=2,
            correlation=f"{story_of(run)}.0.1",
            action_hash="",
            kind="send_text",
            actor=actor_of(run),
            risk="input",
        )
        scene.questions.publish(question)
        await pass_time(scene, 1000.0)
        assert engine.open[0].status == "waiting"
        assert "question 7" in engine.open[0].why
        scene.hands.hangs = False
        second = await engine.begin(asked_for(scene))
        assert (await ended(scene, second.id)).status == "completed"


async def test_the_same_event_is_offered_once_whatever_happens_in_between():
    scene = Scene(workflow(greets))
    async with living(scene):
        await pass_time(scene)
    for _ in range(3):
        scene.find()
        async with living(scene):
            await pass_time(scene, times=3)
    assert [run.event for run in scene.runs.kept.values()] == [1, 2, 3]
    assert len(scene.hands.done) == 3


async def asking(context: Context) -> None:
    await context.send("hello")
    await context.send("again")


async def questioned() -> Scene:
    """A run whose first question stays open."""
    scene = Scene(workflow(asking))
    scene.hands.hangs = True
    async with living(scene):
        scene.find()
        await pass_time(scene)
    return scene


@pytest.mark.parametrize("how", ["cancel", "hold"])
async def test_what_a_run_asked_is_not_left_in_the_inbox_when_it_ends_or_is_held(how):
    scene = Scene(workflow(asking))
    scene.hands.hangs = True
    async with living(scene) as engine:
        scene.find()
        await pass_time(scene)
        run = scene.runs.kept[RunId(1)]
        assert scene.hands.withdrawn == []
        await (engine.cancel(RunId(1), "", "human:1") if how == "cancel" else engine.pause(RunId(1), ""))
        await pass_time(scene)
        assert scene.hands.withdrawn == [f"{run.correlation}.1"]


async def test_a_daemon_that_ends_leaves_its_questions_open():
    scene = await questioned()
    assert scene.hands.withdrawn == []


async def test_who_is_switched_off_while_a_person_is_asked_does_nothing_more():
    scene = await questioned()
    async with living(scene):
        await pass_time(scene)
        scene.modes.modes["refresh"] = "off"
        scene.events.publish(Event(at=1, kind="config_reloaded"))
        run = await ended(scene)
    assert (run.status, run.why) == ("cancelled", "refresh is switched off")
    assert scene.hands.withdrawn == [f"{run.correlation}.1"]


async def test_who_is_switched_off_while_no_daemon_ran_does_nothing_more():
    scene = await questioned()
    scene.modes.modes["refresh"] = "off"
    async with living(scene):
        run = await ended(scene)
    assert (run.status, run.why) == ("cancelled", "refresh is switched off")
