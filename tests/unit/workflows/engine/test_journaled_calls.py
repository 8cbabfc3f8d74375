"""Calls of a live run: on record before they are taken, and what comes of them before it is heard."""

import asyncio

import pytest

from termvisor.clock import NS
from termvisor.errors import Diverged, NotDone, StorageError, TimedOut
from termvisor.model.workflow.run import Run, RunId, Step
from termvisor.testing.runs import MemoryRuns
from termvisor.testing.world import StillClock, settled
from termvisor.workflows.calls import Act, Deed, Moment, Note, Nothing, Now, Press, Retry
from termvisor.workflows.engine.journaled_calls import Going, Journaled, left

RUN = Run(id=RunId(1), workflow="w", at=0, correlation="c")
KEYS = Act(wish=Press(keys=("C-c",)), retry=Retry(times=3, first=1.0))


class Means:
    """Answers in the order of the test's list; an error is raised."""

    def __init__(self, runs: MemoryRuns, *answers):
        self._runs, self._answers = runs, list(answers)
        self.journaled: list[str] = []

    async def prepare(self, run, call, last) -> str:
        return ""

    async def take(self, call, going):
        self.journaled.append((await self._runs.steps(RUN.id))[-1].status)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def journaled(*answers, steps=()) -> tuple[Journaled, MemoryRuns, Means, StillClock]:
    runs, clock = MemoryRuns(), StillClock()
    means = Means(runs, *answers)
    return Journaled(RUN, steps, runs, means, clock), runs, means, clock


async def test_a_step_is_on_record_as_running_when_it_is_taken_and_as_completed_when_it_is_heard():
    effects, runs, means, _ = journaled(Nothing())
    await effects.do(Note(text="hello"))
    assert means.journaled == ["running"]
    assert [step.status for step in await runs.steps(RUN.id)] == ["completed"]


async def test_what_the_workflow_hears_is_what_the_journal_will_tell_again():
    secret = "token ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"
    effects, runs, _, _ = journaled(Deed(status="done", text=secret))
    heard = await effects.do(KEYS)
    again, _, _, _ = journaled(steps=await runs.steps(RUN.id))
    assert await again.do(KEYS) == heard
    assert "0123456789abcdef" not in heard.text


async def test_a_failure_is_on_record_and_is_raised_again_in_a_replay():
    effects, runs, _, _ = journaled(TimedOut("late"))
    with pytest.raises(TimedOut):
        await effects.do(Now())
    again, _, _, _ = journaled(steps=await runs.steps(RUN.id))
    with pytest.raises(TimedOut, match="late"):
        await again.do(Now())


async def test_tries_end_with_the_budget():
    busy = [NotDone("busy", details={"status": "refused", "why": "human_typing"}) for _ in range(3)]
    effects, runs, means, clock = journaled(*busy)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(_caught(effects.do(KEYS)))
        for _ in range(4):
            await settled()
            await clock.advance(5.0)
    assert task.result().why == "human_typing"
    assert means.journaled == ["running"] * 3
    assert (await runs.steps(RUN.id))[0].attempt == 3


async def _caught(work):
    try:
        await work
    except NotDone as error:
        return error


async def test_a_divergence_closes_the_run_whatever_it_catches():
    effects, _, _, _ = journaled(steps=[Step(number=0, kind="now", given='{"type":"now"}', status="running", at=0)])
    for call in (Note(text="x"), Now()):
        with pytest.raises(Diverged, match="step 0"):
            await effects.do(call)
    with pytest.raises(Diverged):
        effects.finish()


async def test_two_calls_at_once_are_a_divergence():
    effects, _, means, _ = journaled(Moment(at=1))
    held = asyncio.Event()

    async def slow(_call, _going):
        await held.wait()
        return Moment(at=1)

    means.take = slow
    async with asyncio.TaskGroup() as group:
        group.create_task(_diverged(effects.do(Now())))
        await settled()
        with pytest.raises(Diverged, match="one thing at a time"):
            await effects.do(Now())
        held.set()


async def _diverged(work) -> None:
    await work


async def test_what_cannot_be_stored_is_not_done():
    effects, runs, means, _ = journaled(Nothing())

    async def full(*_given):
        raise StorageError("disk full")

    runs.put = full
    with pytest.raises(StorageError):
        await effects.do(Note(text="x"))
    assert means.journaled == []


@pytest.mark.parametrize(("now", "remains"), [(0, 60.0), (20 * NS, 40.0), (90 * NS, 0.0), (-500 * NS, 60.0)])
def test_what_is_left_of_a_wait_is_reckoned_from_the_journal_and_no_clock_makes_it_longer(now, remains):
    assert left(Going(run=RUN, step=Step(number=0, kind="wait_for", at=0)), 60.0, now) == remains
