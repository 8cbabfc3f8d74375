"""A run that is killed after any step, any number of times, and resumed, ends the same, and nothing is done twice."""

import asyncio
import tempfile
from collections import Counter
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.clock import SystemClock
from termvisor.model.action.action import AskPerson, SendText
from termvisor.model.ids import EventId
from termvisor.model.workflow import ENDED_RUN_STATUSES, Run, RunFilter, RunId, RunStep
from termvisor.store import Store
from termvisor.testing.fake_clock import let_tasks_run
from termvisor.testing.workflow_scene import CrashingRunStore, WorkflowScene
from termvisor.workflows.calls import WaitFor
from termvisor.workflows.context import Context
from termvisor.workflows.engine.services import RunStore
from termvisor.workflows.workflow import Trigger, Workflow
from tests.fuzz.example_count import build_settings

KINDS = ("send", "keys", "observe", "answer", "note", "now", "sleep", "ask", "pause", "still", "notify")
MOMENTS = ("before a write", "after a write", "intent", "deed", "outcome")
KILLS = st.lists(st.tuples(st.sampled_from(MOMENTS), st.integers(1, 14)), max_size=4)


class Plan:
    """A workflow that wants these things in this order; every act has a text of its own."""

    def __init__(self, kinds: list[str]):
        self._kinds = kinds

    async def run(self, context: Context) -> str:
        for number, kind in enumerate(self._kinds):
            await self._do(context, kind, number)
        return "all done"

    async def cleanup(self, context: Context) -> None:
        await context.keys("C-l")

    async def _do(self, context: Context, kind: str, number: int) -> None:
        ways = {
            "send": lambda: context.send(f"text {number}"),
            "keys": lambda: context.keys(f"F{number}"),
            "observe": context.observe,
            "answer": lambda: context.wait_for(WaitFor(signal="go", timeout=60)),
            "note": lambda: context.note(f"note {number}"),
            "now": context.now,
            "sleep": lambda: context.sleep(3),
            "ask": lambda: context.ask_person(f"go on {number}?"),
            "pause": lambda: self._pause(context),
            "still": context.still,
            "notify": lambda: context.notify("title", f"word {number}"),
        }
        await ways[kind]()

    async def _pause(self, context: Context) -> None:
        await context.pause("go on soon", await context.now() + 2_000_000_000)


class Killer:
    """One daemon that dies at its moment, if it comes to that."""

    def __init__(self, scene: WorkflowScene, runs: RunStore, moment: str, nth: int):
        is_write = moment.endswith("write")
        self._scene = scene
        self.runs = CrashingRunStore(runs, nth if is_write else None, crash_after_write=moment == "after a write")
        count = iter(range(1, 1 << 30))
        scene.gate.crashes_at = lambda now: now == moment and next(count) == nth and self._die()

    def _die(self) -> bool:
        self.runs.death_event.set()
        return True

    async def live(self, is_over) -> None:
        self._scene.gate.errors.clear()
        engine = self._scene.build_engine(self.runs)
        async with asyncio.TaskGroup() as group:
            task = group.create_task(engine.run())
            for _ in range(200):
                await self._settled()
                if self.runs.death_event.is_set() or await is_over():
                    break
                await self._say(engine)
                await self._scene.clock.advance(1.0)
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _settled(self) -> None:
        await let_tasks_run()
        while self.runs.pending_calls and not self.runs.death_event.is_set():
            await asyncio.sleep(0.0005)
            await let_tasks_run()

    async def _say(self, engine) -> None:
        """Somebody keeps saying `go` while a run waits for it."""
        for run in engine.open_runs:
            steps = await self.runs.list_steps(run.id)
            if steps and steps[-1].name == "signal" and steps[-1].status == "running":
                await engine.send_signal(run.id, "go", "", "human:1")


async def story(
    runs: RunStore, kinds: list[str], kills: list[tuple[str, int]]
) -> tuple[Run, list[RunStep], WorkflowScene]:
    plan = Plan(kinds)
    workflow = Workflow(
        name="plan", summary="for tests", run=plan.run, cleanup=plan.cleanup, trigger=Trigger(events=("x",))
    )
    scene = WorkflowScene(workflow)
    scene.services.print_lines(scene.pane, "compacted")
    await runs.advance_cursor(EventId(0))
    scene.add_detection("x")

    async def is_over() -> bool:
        found = await runs.find(RunId(1))
        return found is not None and found.status in ENDED_RUN_STATUSES

    for moment, nth in (*kills, ("never", 0)):
        await Killer(scene, runs, moment, nth).live(is_over)
    (run,) = await runs.list(RunFilter())
    return run, await runs.list_steps(run.id), scene


def check(kinds: list[str], kills: list[tuple[str, int]], told: tuple[Run, list[RunStep], WorkflowScene]) -> None:
    run, steps, scene = told
    wanted = [f"text {number}" for number, kind in enumerate(kinds) if kind == "send"]
    texts = [action.text for action in scene.gate.executed if isinstance(action, SendText)]
    deeds = Counter(repr(action) for action in scene.gate.executed if not isinstance(action, AskPerson))
    assert (run.status, run.why) == ("completed", "all done")
    assert {step.status for step in steps} == {"completed"}
    assert [step.number for step in steps] == list(range(len(steps)))
    assert max(deeds.values(), default=0) <= 1, deeds
    assert texts == [text for text in wanted if text in texts]
    unknown = sum('"status":"unknown"' in step.came for step in steps)
    assert len(wanted) - len(texts) <= unknown <= sum(moment in ("intent", "deed") for moment, _ in kills)


@given(kinds=st.lists(st.sampled_from(KINDS), max_size=6), kills=KILLS)
@build_settings(60)
def test_a_run_killed_at_any_moment_ends_the_same_and_does_nothing_twice(kinds, kills):
    scene = WorkflowScene()
    check(kinds, kills, asyncio.run(story(scene.runs, kinds, kills)))


@pytest.mark.parametrize("kinds", [["send", "observe", "send", "sleep"], list(KINDS)], ids=["short", "all"])
def test_a_run_killed_at_every_single_write_ends_the_same(kinds):
    for nth in range(1, 3 * len(kinds) + 8):
        for moment in ("before a write", "after a write"):
            kills = [(moment, nth)]
            check(kinds, kills, asyncio.run(story(WorkflowScene().runs, kinds, kills)))


@given(kinds=st.lists(st.sampled_from(KINDS), min_size=2, max_size=5), kills=KILLS)
@build_settings(8)
def test_the_law_holds_for_the_journal_on_disk(kinds, kills):
    async def on_disk():
        with tempfile.TemporaryDirectory() as folder:
            store = await Store.open(f"{folder}/visor.db", SystemClock())
            try:
                return await story(store.workflow_runs, kinds, kills)
            finally:
                await store.close()

    check(kinds, kills, asyncio.run(on_disk()))
