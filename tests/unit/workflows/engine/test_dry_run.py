"""A dry run shows every step and executes nothing."""

import asyncio

import pytest

from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.calls import WaitFor
from termvisor.workflows.context import StepBack
from termvisor.workflows.engine.dry_run import DryRunExecutor, dry_run_workflow
from termvisor.workflows.workflow import Workflow
from tests.unit.workflows.engine.test_engine import build_manual_run


async def dry_run(work, previewed=("", False)):
    scene = WorkflowScene()
    scene.gate.previewed = previewed
    run, engine = build_manual_run(scene), scene.build_engine()
    rehearsal = DryRunExecutor(run, engine.step_runner, scene.gate, scene.clock)
    ending = await dry_run_workflow(Workflow(name="refresh", summary="", run=work), rehearsal, run)
    assert scene.gate.executed == []
    return ending


async def test_every_step_is_listed_with_its_verdict_and_not_executed():
    async def work(context) -> str:
        await context.observe()
        await context.wait_for(WaitFor(text="x"))
        await context.sleep(3600)
        assert (await context.ask_person("go?")).choice == "yes"
        assert (await context.pause("later")).why == "due"
        await context.note("n")
        await context.send("hello")
        return "done"

    steps, why = await dry_run(work)
    assert why == "done"
    assert [step.kind for step in steps] == [
        "observe",
        "wait_for",
        "now",
        "sleep_until",
        "ask_person",
        "pause",
        "note",
        "act",
    ]
    assert steps[-1].verdict.answer == "ask"
    assert steps[4].assumed == "a person answers yes"


@pytest.mark.parametrize(
    ("previewed", "count", "expected"),
    [
        (("a user is typing", False), 2, "done"),
        (("several lines", True), 1, "it would end here: send is refused: several lines"),
    ],
)
async def test_a_text_that_cannot_be_sent_ends_the_dry_run(previewed, count, expected):
    async def work(context) -> str:
        await context.send("one\ntwo")
        await context.send("three")
        return "done"

    steps, why = await dry_run(work, previewed)
    assert ([step.ends_run for step in steps], why) == ([previewed[1]] * count, expected)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (StepBack("no"), "it would step back: no"),
        (KeyError("k"), "it would fail: KeyError: 'k'"),
        (SystemExit(3), "it would fail: SystemExit: 3"),
        (asyncio.CancelledError("mine"), "it would fail: CancelledError: mine"),
    ],
)
async def test_a_dry_run_reports_how_the_run_would_end(error, expected):
    async def work(_context) -> None:
        raise error

    assert (await dry_run(work))[1] == expected


async def test_an_endless_dry_run_ends():
    async def work(context) -> None:
        while True:
            await context.note("again")

    steps, why = await dry_run(work)
    assert len(steps) == 100
    assert "ends after 100 steps" in why


async def test_an_awaited_state_is_assumed_in_later_observations():
    async def work(context) -> str:
        while (await context.observe(0)).state != "idle":
            await context.wait_state("idle", timeout=3)
        await context.wait_for(WaitFor(prompt=True))
        return (await context.observe(0)).activity

    steps, why = await dry_run(work)
    assert why == "prompt"
    assert [step.kind for step in steps] == ["observe", "wait_for", "observe", "wait_for", "observe"]
