"""A dry run shows every step and executes nothing."""

import asyncio

import pytest
from msgspec.structs import replace

from termvisor.errors import Unavailable
from termvisor.model.ids import SessionId
from termvisor.testing.fake_clock import let_tasks_run
from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.calls import WaitFor
from termvisor.workflows.context import StepBack
from termvisor.workflows.engine.dry_run import DryRunExecutor, dry_run_workflow
from termvisor.workflows.results import PauseResult, SessionRecord
from termvisor.workflows.workflow import Workflow
from tests.unit.workflows.engine.test_engine import build_manual_run


async def dry_run(work, previewed=("", False), *, facts=None, preview=None, mode="on"):
    scene = WorkflowScene()
    scene.gate.previewed = previewed
    scene.gate.preview = preview or scene.gate.preview
    if facts:
        scene.pane_observer.change_pane(scene.pane, **facts)
    run, engine = replace(build_manual_run(scene), mode=mode), scene.build_engine()
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


async def test_every_step_is_described_completely():
    async def work(context) -> str:
        met = [await context.wait_for(WaitFor(**{name: value})) for name, value in CONDITIONS.items()]
        now = await context.sleep(60)
        assert (await context.now(), await context.sleep_until(now - 5)) == (now, now)
        assert await context.pause("later", now + 5) == PauseResult(why="due")
        assert await context.now() == now + 5
        assert (await context.ask_person("?", ("a", "b"))).why == "rehearsed"
        assert await context.update_session(SessionId(3), "x") == SessionRecord(id=SessionId(3))
        sent = await context.keys("C-c")
        assert (sent.status, sent.why, sent.at) == ("delivered", "rehearsed", now + 5)
        return " ".join(f"{one.what}:{one.text}" for one in met)

    steps, why = await dry_run(work)
    assert why == ("text:a pattern:b state:idle rule:c.d prompt: quiet: signal:e session: cleared: gone:")
    assert [step.number for step in steps] == list(range(len(steps)))
    assert [(step.kind, step.name, step.assumed, step.refused) for step in steps] == [
        *(("wait_for", name, "it happens", "") for name in CONDITIONS),
        ("now", "", "", ""),
        ("sleep_until", "", "the time passes", ""),
        ("now", "", "", ""),
        ("sleep_until", "", "the time passes", ""),
        ("pause", "plan", "the time passes", ""),
        ("now", "", "", ""),
        ("ask_person", "question", "a person answers a", ""),
        ("keep", "", "it is stored", ""),
        ("act", "keys", "", ""),
    ]
    assert steps[0].given == '{"text":"a","type":"wait_for"}'


CONDITIONS = {
    "text": "a", "pattern": "b", "state": ("idle", "running"), "rule": "c.d", "prompt": True, "quiet": 2.0,
    "signal": "e", "session": "f", "cleared": "auth_needed", "gone": "g",
}  # fmt: skip


@pytest.mark.parametrize(
    ("condition", "field", "value"),
    [
        (WaitFor(state=("idle", "running")), "state", "idle"),
        (WaitFor(prompt=True), "activity", "prompt"),
        (WaitFor(prompt=True), "is_alternate", False),
        (WaitFor(cleared="usage_limited"), "usage_limited", False),
        (WaitFor(text="x"), "state", "running"),
    ],
)
async def test_what_was_awaited_is_assumed_from_then_on(condition, field, value):
    async def work(context) -> str:
        await context.wait_for(condition)
        return str(getattr(await context.observe(0), field))

    facts = {"agent": "codex", "state": "running", "is_alternate": True, "usage_limited": True}
    assert (await dry_run(work, facts=facts))[1] == str(value)


@pytest.mark.parametrize(
    ("mode", "action", "asks"),
    [("ask", "send", True), ("ask", "notify", False), ("on", "send", False), ("on", "notify", False)],
)
async def test_an_action_is_previewed_as_the_run_would_request_it(mode, action, asks):
    async def work(context) -> None:
        await (context.send("x") if action == "send" else context.notify("a", "b"))

    given = []

    async def preview(_action, actor, preconditions):
        given.append((actor.kind, actor.name, preconditions.asks))
        raise Unavailable("not now")

    steps, why = await dry_run(work, preview=preview, mode=mode)
    assert given == [("workflow", "refresh", asks)]
    assert ([step.refused for step in steps], why) == (["not now"], "it would end here")


async def test_a_dry_run_that_hangs_times_out(monkeypatch):
    async def work(_context) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr("termvisor.workflows.engine.dry_run._TIMEOUT_S", 0.01)
    assert (await dry_run(work))[1] == "timed out after 0.01 s"


async def test_a_dry_run_can_be_cancelled():
    async def work(_context) -> None:
        await asyncio.Event().wait()

    task = asyncio.create_task(dry_run(work))
    await let_tasks_run()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_an_error_of_a_step_ends_the_dry_run_with_its_message():
    async def work(_context) -> None:
        raise Unavailable("not now")

    assert (await dry_run(work))[1] == "it would end here: not now"
