"""A run that is killed at any moment, any number of times, and resumed, completes and repeats no action."""

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
# A run is held if three daemons end between the same two steps, so at most one of them dies at once after another.
CRASHES = st.lists(st.tuples(st.sampled_from(MOMENTS), st.integers(1, 14)), max_size=4).filter(
    lambda crashes: sum(nth == 1 for _, nth in crashes[1:]) < 2
)


class PlannedWorkflow:
    """A workflow that makes these calls in this order; every action has a unique text."""

    def __init__(self, kinds: list[str]):
        self._kinds = kinds

    async def run(self, context: Context) -> str:
        for number, kind in enumerate(self._kinds):
            await self._execute(context, kind, number)
        return "all done"

    async def cleanup(self, context: Context) -> None:
        await context.keys("C-l")

    async def _execute(self, context: Context, kind: str, number: int) -> None:
        calls = {
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
        await calls[kind]()

    async def _pause(self, context: Context) -> None:
        await context.pause("go on soon", await context.now() + 2_000_000_000)


class CrashingDaemon:
    """One daemon that crashes at the given moment, if it reaches it."""

    def __init__(self, scene: WorkflowScene, runs: RunStore, moment: str, nth: int):
        is_write = moment.endswith("write")
        self._scene = scene
        self.runs = CrashingRunStore(runs, nth if is_write else None, crash_after_write=moment == "after a write")
        count = iter(range(1, 1 << 30))
        scene.gate.crashes_at = lambda now: now == moment and next(count) == nth and self._crash()

    def _crash(self) -> bool:
        self.runs.death_event.set()
        return True

    async def run_until(self, is_over) -> None:
        self._scene.gate.errors.clear()
        engine = self._scene.build_engine(self.runs)
        async with asyncio.TaskGroup() as group:
            task = group.create_task(engine.run())
            for _ in range(200):
                await self._wait_settled()
                if self.runs.death_event.is_set() or await is_over():
                    break
                await self._send_go_signal(engine)
                await self._scene.clock.advance(1.0)
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _wait_settled(self) -> None:
        await let_tasks_run()
        while self.runs.pending_calls and not self.runs.death_event.is_set():
            await asyncio.sleep(0.0005)
            await let_tasks_run()

    async def _send_go_signal(self, engine) -> None:
        """Send the signal `go` while a run waits for it."""
        for run in engine.open_runs:
            steps = await self.runs.list_steps(run.id)
            if steps and steps[-1].name == "signal" and steps[-1].status == "running":
                await engine.send_signal(run.id, "go", "", "human:1")


async def run_workflow(
    runs: RunStore, kinds: list[str], crashes: list[tuple[str, int]]
) -> tuple[Run, list[RunStep], WorkflowScene]:
    plan = PlannedWorkflow(kinds)
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

    for moment, nth in (*crashes, ("never", 0)):
        await CrashingDaemon(scene, runs, moment, nth).run_until(is_over)
    (run,) = await runs.list(RunFilter())
    return run, await runs.list_steps(run.id), scene


def check_run(
    kinds: list[str], crashes: list[tuple[str, int]], result: tuple[Run, list[RunStep], WorkflowScene]
) -> None:
    run, steps, scene = result
    wanted = [f"text {number}" for number, kind in enumerate(kinds) if kind == "send"]
    texts = [action.text for action in scene.gate.executed if isinstance(action, SendText)]
    action_counts = Counter(repr(action) for action in scene.gate.executed if not isinstance(action, AskPerson))
    assert (run.status, run.why) == ("completed", "all done")
    assert {step.status for step in steps} == {"completed"}
    assert [step.number for step in steps] == list(range(len(steps)))
    assert max(action_counts.values(), default=0) <= 1, action_counts
    assert texts == [text for text in wanted if text in texts]
    unknown = sum('"status":"unknown"' in step.came for step in steps)
    assert len(wanted) - len(texts) <= unknown <= sum(moment in ("intent", "deed") for moment, _ in crashes)


@given(kinds=st.lists(st.sampled_from(KINDS), max_size=6), crashes=CRASHES)
@build_settings(60)
def test_a_run_killed_at_any_moment_completes_and_repeats_no_action(kinds, crashes):
    scene = WorkflowScene()
    check_run(kinds, crashes, asyncio.run(run_workflow(scene.runs, kinds, crashes)))


@pytest.mark.parametrize("kinds", [["send", "observe", "send", "sleep"], list(KINDS)], ids=["short", "all"])
def test_a_run_killed_at_each_journal_write_completes_and_repeats_no_action(kinds):
    for nth in range(1, 3 * len(kinds) + 8):
        for moment in ("before a write", "after a write"):
            crashes = [(moment, nth)]
            check_run(kinds, crashes, asyncio.run(run_workflow(WorkflowScene().runs, kinds, crashes)))


@given(kinds=st.lists(st.sampled_from(KINDS), min_size=2, max_size=5), crashes=CRASHES)
@build_settings(8)
def test_a_run_killed_with_a_journal_on_disk_completes_and_repeats_no_action(kinds, crashes):
    async def run_on_disk():
        with tempfile.TemporaryDirectory() as folder:
            store = await Store.open(f"{folder}/visor.db", SystemClock())
            try:
                return await run_workflow(store.workflow_runs, kinds, crashes)
            finally:
                await store.close()

    check_run(kinds, crashes, asyncio.run(run_on_disk()))
