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
from termvisor.model.workflow.run import ENDED, Run, RunFilter, RunId, Step
from termvisor.store import Store
from termvisor.testing.runs import Mortal, Scene
from termvisor.testing.world import settled
from termvisor.workflows.calls import WaitFor
from termvisor.workflows.context import Context
from termvisor.workflows.engine.services import Runs
from termvisor.workflows.workflow import Trigger, Workflow
from tests.fuzz.effort import examples

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

    def __init__(self, scene: Scene, runs: Runs, moment: str, nth: int):
        is_write = moment.endswith("write")
        self._scene = scene
        self.runs = Mortal(runs, nth if is_write else None, after=moment == "after a write")
        count = iter(range(1, 1 << 30))
        scene.hands.dies = lambda now: now == moment and next(count) == nth and self._die()

    def _die(self) -> bool:
        self.runs.dead.set()
        return True

    async def live(self, is_over) -> None:
        self._scene.hands.errors.clear()
        engine = self._scene.engine(self.runs)
        async with asyncio.TaskGroup() as group:
            task = group.create_task(engine.run())
            for _ in range(200):
                await self._settled()
                if self.runs.dead.is_set() or await is_over():
                    break
                await self._say(engine)
                await self._scene.clock.advance(1.0)
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _settled(self) -> None:
        await settled()
        while self.runs.busy and not self.runs.dead.is_set():
            await asyncio.sleep(0.0005)
            await settled()

    async def _say(self, engine) -> None:
        """Somebody keeps saying `go` while a run waits for it."""
        for run in engine.open:
            steps = await self.runs.steps(run.id)
            if steps and steps[-1].name == "signal" and steps[-1].status == "running":
                await engine.signal(run.id, "go", "", "human:1")


async def story(runs: Runs, kinds: list[str], kills: list[tuple[str, int]]) -> tuple[Run, list[Step], Scene]:
    plan = Plan(kinds)
    workflow = Workflow(
        name="plan", summary="for tests", run=plan.run, cleanup=plan.cleanup, trigger=Trigger(events=("x",))
    )
    scene = Scene(workflow)
    scene.world.say(scene.pane, "compacted")
    await runs.offered(EventId(0))
    scene.find("x")

    async def is_over() -> bool:
        found = await runs.one(RunId(1))
        return found is not None and found.status in ENDED

    for moment, nth in (*kills, ("never", 0)):
        await Killer(scene, runs, moment, nth).live(is_over)
    (run,) = await runs.list(RunFilter())
    return run, await runs.steps(run.id), scene


def check(kinds: list[str], kills: list[tuple[str, int]], told: tuple[Run, list[Step], Scene]) -> None:
    run, steps, scene = told
    wanted = [f"text {number}" for number, kind in enumerate(kinds) if kind == "send"]
    texts = [action.text for action in scene.hands.done if isinstance(action, SendText)]
    deeds = Counter(repr(action) for action in scene.hands.done if not isinstance(action, AskPerson))
    assert (run.status, run.why) == ("completed", "all done")
    assert {step.status for step in steps} == {"completed"}
    assert [step.number for step in steps] == list(range(len(steps)))
    assert max(deeds.values(), default=0) <= 1, deeds
    assert texts == [text for text in wanted if text in texts]
    unknown = sum('"status":"unknown"' in step.came for step in steps)
    assert len(wanted) - len(texts) <= unknown <= sum(moment in ("intent", "deed") for moment, _ in kills)


@given(kinds=st.lists(st.sampled_from(KINDS), max_size=6), kills=KILLS)
@examples(60)
def test_a_run_killed_at_any_moment_ends_the_same_and_does_nothing_twice(kinds, kills):
    scene = Scene()
    check(kinds, kills, asyncio.run(story(scene.runs, kinds, kills)))


@pytest.mark.parametrize("kinds", [["send", "observe", "send", "sleep"], list(KINDS)], ids=["short", "all"])
def test_a_run_killed_at_every_single_write_ends_the_same(kinds):
    for nth in range(1, 3 * len(kinds) + 8):
        for moment in ("before a write", "after a write"):
            kills = [(moment, nth)]
            check(kinds, kills, asyncio.run(story(Scene().runs, kinds, kills)))


@given(kinds=st.lists(st.sampled_from(KINDS), min_size=2, max_size=5), kills=KILLS)
@examples(8)
def test_the_law_holds_for_the_journal_on_disk(kinds, kills):
    async def on_disk():
        with tempfile.TemporaryDirectory() as folder:
            store = await Store.open(f"{folder}/visor.db", SystemClock())
            try:
                return await story(store.runs, kinds, kills)
            finally:
                await store.close()

    check(kinds, kills, asyncio.run(on_disk()))
