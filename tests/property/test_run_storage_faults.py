"""Workflow runs beside a store or a multiplexer that fails once, at any call.

Law: the run ends, completed if only the store failed; no action is executed twice; only our own errors are raised.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from termvisor.errors import MuxError, StorageError, VisorError
from termvisor.model.action.action import AskPerson
from termvisor.model.ids import EventId
from termvisor.model.workflow import Run
from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.calls import WaitFor
from termvisor.workflows.context import Context
from termvisor.workflows.engine.engine import WorkflowEngine
from termvisor.workflows.workflow import Trigger, Workflow
from tests.unit.workflows.running_engine import run_engine, wait_until_ended


async def work(context: Context) -> str:
    await context.send("hello")
    await context.wait_for(WaitFor(text="ready"))
    await context.sleep(1)
    await context.ask_person("go on?")
    await context.keys("C-l")
    return "done"


async def clean_up(context: Context) -> None:
    await context.keys("C-c")


WORKFLOW = Workflow(name="w", summary="", trigger=Trigger(events=("session.compaction",)), run=work, cleanup=clean_up)


class FaultyPart:
    """Passes calls on to a part of the scene; call number ``fails_at`` raises instead."""

    def __init__(self, part: object, fails_at: int, error: type[VisorError]):
        self._part, self._fails_at, self._error = part, fails_at, error
        self.calls = 0

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._part, name)
        return method if name == "watch_pane" else self._wrap(method)

    def _wrap(self, method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def call(*args: Any) -> Any:
            self.calls += 1
            if self.calls == self._fails_at:
                raise self._error("no answer")
            return await method(*args)

        return call


async def run_with_fault(part: str, fails_at: int) -> tuple[Run, WorkflowScene, int]:
    scene = WorkflowScene(WORKFLOW)
    scene.services.print_lines(scene.pane, "ready")
    await scene.runs.advance_cursor(EventId(0))  # not the very first start, which ignores what was detected before it
    runs = FaultyPart(scene.runs, fails_at if part == "runs" else 0, StorageError)
    panes = FaultyPart(scene.pane_observer, fails_at if part == "panes" else 0, MuxError)
    scene.pane_observer = panes  # type: ignore[assignment]
    build: Callable[..., WorkflowEngine] = scene.build_engine
    scene.build_engine = lambda: build(runs)  # type: ignore[method-assign]
    async with run_engine(scene):
        scene.add_detection()
        run = await wait_until_ended(scene)
    return run, scene, runs.calls if part == "runs" else panes.calls


def list_actions(scene: WorkflowScene) -> list[str]:
    """Return what was typed; the fake gate does not record the answer to a question, so it is asked again."""
    return [type(action).__name__ for action in scene.gate.executed if not isinstance(action, AskPerson)]


@pytest.mark.parametrize("part", ["runs", "panes"])
async def test_a_run_survives_one_failed_call(part: str) -> None:
    expected, scene, calls = await run_with_fault(part, 0)
    assert (expected.status, expected.why) == ("completed", "done")
    assert list_actions(scene) == ["SendText", "SendKeys", "SendKeys"]
    for number in range(1, calls + 1):
        run, scene, _ = await run_with_fault(part, number)
        done = list_actions(scene)
        if part == "runs":
            assert (number, run.status, run.why, len(done)) == (number, "completed", "done", 3)
        else:
            assert run.status in ("completed", "failed"), number
            assert done in (["SendText", "SendKeys", "SendKeys"], ["SendText", "SendKeys"], ["SendKeys"])
        steps = scene.runs.steps_by_run[run.id].values()
        assert [step.number for step in steps] == list(range(len(steps)))
        assert {step.status for step in steps} <= {"completed", "failed"}
