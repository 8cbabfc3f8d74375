"""Journaled execution of calls: steps are stored before they run, results before they are returned."""

import asyncio

import pytest

from termvisor.clock import NS
from termvisor.errors import Diverged, NotDone, StorageError, TimedOut
from termvisor.model.workflow import Run, RunId, RunStep
from termvisor.testing.fake_clock import FakeClock, let_tasks_run
from termvisor.testing.memory_store import open_memory_store, run_now
from termvisor.testing.workflow_scene import FakeRunStore
from termvisor.workflows.calls import ActionCall, ClockCall, NoteCall, PressKeysRequest, RetryPolicy
from termvisor.workflows.engine.journaled_calls import JournaledExecutor, StepExecution, compute_remaining_seconds
from termvisor.workflows.results import ActionStepResult, ClockReading, EmptyResult

RUN = Run(id=RunId(1), workflow="w", at=0, correlation="c")
KEYS = ActionCall(wish=PressKeysRequest(keys=("C-c",)), retry=RetryPolicy(times=3, first=1.0))


class ScriptedStepRunner:
    """Returns the results of a list in order; errors are raised."""

    def __init__(self, runs: FakeRunStore, *answers):
        self._runs, self._answers = runs, list(answers)
        self.journaled: list[str] = []

    async def prepare_step(self, run, call, last) -> str:
        return ""

    async def run_step(self, call, going):
        self.journaled.append((await self._runs.list_steps(RUN.id))[-1].status)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def build_calls(*answers, steps=()) -> tuple[JournaledExecutor, FakeRunStore, ScriptedStepRunner, FakeClock]:
    clock = FakeClock()
    runs = FakeRunStore(open_memory_store(clock))
    run_now(runs.add(RUN))
    means = ScriptedStepRunner(runs, *answers)
    return JournaledExecutor(RUN, steps, runs.save_step, means, clock), runs, means, clock


async def test_a_step_is_stored_before_it_runs_and_its_result_before_it_is_returned():
    effects, runs, means, _ = build_calls(EmptyResult())
    await effects.execute(NoteCall(text="hello"))
    assert means.journaled == ["running"]
    assert [step.status for step in await runs.list_steps(RUN.id)] == ["completed"]


async def test_a_result_is_the_same_live_and_in_a_replay():
    secret = "token ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"
    effects, runs, _, _ = build_calls(ActionStepResult(status="done", text=secret))
    result = await effects.execute(KEYS)
    again, _, _, _ = build_calls(steps=await runs.list_steps(RUN.id))
    assert await again.execute(KEYS) == result
    assert "0123456789abcdef" not in result.text


async def test_a_failure_is_stored_and_raised_again_in_a_replay():
    effects, runs, _, _ = build_calls(TimedOut("late"))
    with pytest.raises(TimedOut):
        await effects.execute(ClockCall())
    again, _, _, _ = build_calls(steps=await runs.list_steps(RUN.id))
    with pytest.raises(TimedOut, match="late"):
        await again.execute(ClockCall())


async def test_retries_end_with_the_retry_policy():
    busy = [NotDone("busy", details={"status": "refused", "why": "human_typing"}) for _ in range(3)]
    effects, runs, means, clock = build_calls(*busy)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(_catch(effects.execute(KEYS)))
        for _ in range(4):
            await let_tasks_run()
            await clock.advance(5.0)
    assert task.result().why == "human_typing"
    assert means.journaled == ["running"] * 3
    assert (await runs.list_steps(RUN.id))[0].attempt == 3


async def _catch(work):
    try:
        await work
    except NotDone as error:
        return error


async def test_a_divergence_closes_the_run_even_if_it_is_caught():
    effects, _, _, _ = build_calls(
        steps=[RunStep(number=0, kind="now", given='{"type":"now"}', status="running", at=0)]
    )
    for call in (NoteCall(text="x"), ClockCall()):
        with pytest.raises(Diverged, match="step 0"):
            await effects.execute(call)
    with pytest.raises(Diverged):
        effects.check_finished()


async def test_two_calls_at_once_are_a_divergence():
    effects, _, means, _ = build_calls(ClockReading(at=1))
    held = asyncio.Event()

    async def slow(_call, _going):
        await held.wait()
        return ClockReading(at=1)

    means.run_step = slow
    async with asyncio.TaskGroup() as group:
        group.create_task(_diverged(effects.execute(ClockCall())))
        await let_tasks_run()
        with pytest.raises(Diverged, match="one step at a time"):
            await effects.execute(ClockCall())
        held.set()


async def _diverged(work) -> None:
    await work


async def test_a_step_that_cannot_be_stored_is_not_executed():
    _, _, means, clock = build_calls(EmptyResult())

    async def full(*_given):
        raise StorageError("disk full")

    effects = JournaledExecutor(RUN, [], full, means, clock)
    with pytest.raises(StorageError):
        await effects.execute(NoteCall(text="x"))
    assert means.journaled == []


@pytest.mark.parametrize(("now", "remains"), [(0, 60.0), (20 * NS, 40.0), (90 * NS, 0.0), (-500 * NS, 60.0)])
def test_the_remaining_wait_is_computed_from_the_journal_and_never_grows(now, remains):
    assert (
        compute_remaining_seconds(StepExecution(run=RUN, step=RunStep(number=0, kind="wait_for", at=0)), 60.0, now)
        == remains
    )


async def test_a_storage_error_leaves_the_step_open_and_closes_the_run():
    effects, runs, _, _ = build_calls(StorageError("disk full"), StorageError("another"))
    for _ in range(2):
        with pytest.raises(StorageError, match="disk full"):
            await effects.execute(KEYS)
    assert [step.status for step in await runs.list_steps(RUN.id)] == ["running"]
    assert effects.closed_by.message == "disk full"
    effects.close("a person cancelled it")
    assert effects.closed_by.message == "disk full", "the first reason counts"


async def test_only_reasons_that_pass_by_themselves_are_retried():
    effects, runs, _, _ = build_calls(NotDone("no", details={"status": "refused", "why": "dialog_open"}))
    with pytest.raises(NotDone):
        await effects.execute(KEYS)
    assert [(step.status, step.attempt, step.why) for step in await runs.list_steps(RUN.id)] == [("failed", 1, "no")]
    busy = NotDone("busy", details={"status": "refused", "why": "human_typing"})
    effects, runs, _, clock = build_calls(busy, ActionStepResult(status="done"))
    task = asyncio.create_task(effects.execute(KEYS))
    await let_tasks_run()
    assert [(step.status, step.why) for step in await runs.list_steps(RUN.id)] == [("retry", "human_typing: busy")]
    await clock.advance(0.9)
    assert not task.done()
    await clock.advance(0.1)
    assert (await task).status == "done"
    assert [(step.status, step.attempt) for step in await runs.list_steps(RUN.id)] == [("completed", 2)]


async def test_an_open_step_is_skipped_with_its_reason():
    steps = [
        RunStep(number=0, kind="now", given='{"type":"now"}', status="completed", at=0),
        RunStep(number=1, kind="note", status="retry", at=0),
    ]
    effects, runs, _, clock = build_calls(steps=steps)
    await effects.skip_open_step("cancelled")
    (step,) = await runs.list_steps(RUN.id)
    assert step == RunStep(number=1, kind="note", status="skipped", why="cancelled", at=0, ended_at=clock.now())
    await effects.skip_open_step("again")
    assert [step.why for step in await runs.list_steps(RUN.id)] == ["cancelled"]


async def test_a_closed_run_is_not_finished():
    effects, _, _, _ = build_calls()
    effects.check_finished()
    effects.close("a person cancelled it")
    with pytest.raises(Diverged, match="a person cancelled it"):
        effects.check_finished()
