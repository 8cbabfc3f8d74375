"""Dispatch of steps: trigger checks, sleeps and questions."""

import asyncio

import pytest
from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.model.action.action import RunProgram
from termvisor.model.detection.detection import Detection
from termvisor.model.ids import PaneId, RuntimeId, SessionId
from termvisor.model.workflow import Run, RunId, RunStep
from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.calls import RecallCall, TriggerCheckCall, WaitFor
from termvisor.workflows.engine.journaled_calls import StepExecution
from termvisor.workflows.results import (
    CodeSearchResult,
    Observation,
    RecalledDetection,
    RecallResult,
    SessionRecord,
    TriggerCheckResult,
)
from termvisor.workflows.steps.dispatch import check_detection_visible
from termvisor.workflows.workflow import Workflow
from tests.unit.workflows.engine.test_engine import build_manual_run
from tests.unit.workflows.running_engine import advance_time, run_engine, wait_until_ended

PANE = PaneId(1)


def build_detection(**more) -> Detection:
    known = {"at": 1, "type": "session.compaction", "rule": "claude.compaction", "pane": PANE, "source": "stream"}
    return Detection(**(known | {"context": "✻ Conversation compacted"} | more))


@pytest.mark.parametrize(
    ("detection", "seen", "is_so"),
    [
        ({}, {"lines": ("x", " ✻  Conversation compacted ")}, True),
        ({}, {"screen": ("✻ Conversation compacted · ctrl+o",)}, True),
        ({}, {"lines": ("something else",)}, False),
        ({"context": ""}, {"lines": ("x",)}, False),
        ({"evidence": {"line": 90}}, {"line": 100}, True),
        ({"evidence": {"line": 9}}, {"line": 100}, False),
        ({"runtime": 4}, {"runtime": 5, "lines": ("✻ Conversation compacted",)}, False),
        ({"rule": "signal.usage_limited", "source": "signal"}, {"usage_limited": True}, True),
        ({"rule": "signal.usage_limited", "source": "signal"}, {}, False),
        ({"rule": "signal.other", "source": "signal"}, {}, False),
        ({"rule": "signal.compacting", "source": "signal"}, {}, True),
        ({"rule": "signal.compacting", "source": "signal"}, {"compacting": True}, False),
        ({"runtime": 4}, {"runtime": 4, "lines": ("✻ Conversation compacted",)}, True),
        ({"runtime": 4}, {"lines": ("✻ Conversation compacted",)}, True),
        ({}, {"runtime": 5, "lines": ("✻ Conversation compacted",)}, True),
        ({"evidence": {"line": 50}}, {"line": 100}, True),
        ({"evidence": {"line": 49}}, {"line": 100}, False),
        ({"evidence": {"line": 0}}, {"line": 10}, False),
        ({"evidence": {"line": "7"}}, {"line": 10}, False),
        ({"context": "abc"}, {"lines": ("abc",)}, False),
        ({"context": "abcd"}, {"lines": ("x abcd",)}, True),
    ],
)
def test_a_detection_is_visible_by_text_line_or_signal(detection, seen, is_so):
    assert (
        check_detection_visible(build_detection(**detection), Observation(at=1, pane=PANE, **seen), 50).is_so == is_so
    )


async def run_once(work, scene: WorkflowScene | None = None):
    scene = scene or WorkflowScene()
    scene.registry = WorkflowScene(Workflow(name="refresh", summary="", run=work)).registry
    async with run_engine(scene) as engine:
        await engine.start_run(build_manual_run(scene))
        return await wait_until_ended(scene)


async def test_still_checks_whether_a_text_is_visible():
    async def check_texts(context) -> str:
        return f"{(await context.still('limit')).is_so} {(await context.still('other')).is_so}"

    scene = WorkflowScene()
    scene.services.print_lines(scene.pane, "usage limit")
    assert (await run_once(check_texts, scene)).why == "True False"


async def test_a_sleep_uses_the_wall_clock():
    async def sleeps(context) -> str:
        began = await context.now()
        return str((await context.sleep_until(began + 3_000_000_000) - began) // 1_000_000_000)

    assert (await run_once(sleeps)).why == "3"


async def test_a_question_is_answered_by_a_persons_signal_only():
    async def asks(context) -> str:
        return (await context.ask_person("which way?", ("left", "right"))).choice

    scene = WorkflowScene(Workflow(name="refresh", summary="", run=asks))
    scene.gate.hangs = True
    async with run_engine(scene) as engine:
        run = await engine.start_run(build_manual_run(scene))
        await advance_time(scene)
        await engine.send_signal(run.id, "left", "", "robot:1")
        await advance_time(scene)
        await engine.send_signal(run.id, "right", "", "human:1")
        assert (await wait_until_ended(scene)).why == "right"
    assert scene.gate.withdrawn_correlations[0] == "c.1.0.1"


async def test_selecting_an_account_is_one_step_and_names_why_there_is_none():
    async def asks(context) -> str:
        return (await context.select_account()).why

    scene = WorkflowScene(Workflow(name="refresh", summary="", run=asks))
    async with run_engine(scene) as engine:
        await engine.start_run(build_manual_run(scene))
        assert (await wait_until_ended(scene)).why == "no accounts are configured"


def build_scene(work) -> WorkflowScene:
    return WorkflowScene(Workflow(name="refresh", summary="", run=work))


async def run_work(work, prepare=lambda scene: None) -> str:
    scene = build_scene(work)
    prepare(scene)
    async with run_engine(scene) as engine:
        await engine.start_run(build_manual_run(scene))
        return (await wait_until_ended(scene)).why


async def test_detections_are_recalled_by_type_and_age():
    async def work(context) -> str:
        found = await context.recall("usage.*", 60)
        return f"{[detection.type for detection in found.found]} {found.find_capture('left')}"

    def prepare(scene) -> None:
        now = scene.clock.now()
        scene.add_detection("usage.warning", at=now - 90 * NS, captures={"left": "25"})
        scene.add_detection("usage.warning", at=now - 20 * NS, captures={"left": "10"})
        scene.add_detection("usage.reached", at=now - 10 * NS)
        scene.add_detection("session.start", at=now)

    assert await run_work(work, prepare) == "['usage.warning', 'usage.reached'] 10"


async def test_a_session_is_found_and_completed():
    async def work(context) -> str:
        session = await context.last_session(RuntimeId(4))
        kept = await context.update_session(session.id, "0196", {"total": 5})
        missing = await context.last_session(RuntimeId(5))
        return f"{kept.session} {kept.tokens['total']} {missing.id}"

    def prepare(scene) -> None:
        scene.sessions.stored_sessions = [SessionRecord(id=SessionId(3), runtime=RuntimeId(4), is_over=True)]

    assert await run_work(work, prepare) == "0196 5 0"


async def test_code_is_searched_in_the_folder_of_the_pane():
    async def work(context) -> str:
        return str((await context.search_code("parse_rule")).places)

    def prepare(scene) -> None:
        scene.code_search.result = CodeSearchResult(places=("a.py:1: x",))

    assert await run_work(work, prepare) == "('a.py:1: x',)"


def test_the_newest_capture_counts():
    one, two = (
        RecalledDetection(event=number, at=number, type="t", captures={"code": str(number)}) for number in (1, 2)
    )
    assert RecallResult(found=(one, two)).find_capture("code") == "2"
    assert RecallResult(found=(one,)).find_capture("url") == ""


async def test_a_program_of_the_code_search_passes_the_gate():
    action = RunProgram(argv=("ast-grep", "run"))
    scene = WorkflowScene()

    async def search(names, folder, run_program) -> CodeSearchResult:
        await run_program(action)
        return CodeSearchResult(places=(f"{folder}: {names[0]}",))

    async def work(context) -> str:
        return (await context.search_code("parse_rule")).places[0]

    def prepare(given) -> None:
        nonlocal scene
        scene, given.code_search.search = given, search

    assert await run_work(work, prepare) == "/home/me/project: parse_rule"
    assert scene.gate.executed == [action]
    assert [one.correlation for one in scene.gate.received_preconditions] == ["c.1.0.1"]


async def test_without_a_folder_no_code_is_searched():
    async def work(context) -> str:
        return (await context.search_code("parse_rule")).trouble

    def prepare(scene) -> None:
        view = scene.services._get_view(scene.pane)
        scene.pane_observer.find_pane = lambda _pane: asyncio.sleep(0, replace(view, facts=replace(view.facts, cwd="")))

    assert await run_work(work, prepare) == "the folder of the pane is not known"


@pytest.mark.parametrize(
    ("detection", "seen", "expected"),
    [
        ({"runtime": 4}, {"runtime": 5}, TriggerCheckResult(is_so=False, why="another agent runs in the pane now")),
        (
            {"rule": "signal.compacting", "source": "signal"},
            {},
            TriggerCheckResult(is_so=True, why="the agent reported it"),
        ),
        (
            {"rule": "signal.usage_limited", "source": "signal"},
            {"usage_limited": True},
            TriggerCheckResult(is_so=True, why="the flag usage_limited is still there"),
        ),
        (
            {"evidence": {"line": 90}},
            {"line": 100},
            TriggerCheckResult(is_so=True, why="it is 10 lines above the last"),
        ),
        (
            {"evidence": {"line": 101}},
            {"line": 100},
            TriggerCheckResult(is_so=True, why="it is 0 lines above the last"),
        ),
        ({}, {}, TriggerCheckResult(is_so=False, why="the text is no longer there")),
    ],
)
def test_a_check_says_why(detection, seen, expected):
    observation = Observation(at=1, pane=PANE, **seen)
    assert check_detection_visible(build_detection(**detection), observation, 50) == expected


async def test_a_trigger_is_checked_by_its_stored_event():
    scene = WorkflowScene()
    steps = scene.build_engine().step_runner
    step = RunStep(number=0, kind="still", at=1)

    async def check(event: int | None, text: str = "") -> TriggerCheckResult:
        run = Run(id=RunId(1), workflow="w", at=1, correlation="c", pane=scene.pane, event=event)
        return await steps.run_step(TriggerCheckCall(text=text), StepExecution(run=run, step=step))

    assert await check(None) == TriggerCheckResult(is_so=True, why="the run was not started by an event")
    assert await check(7) == TriggerCheckResult(is_so=False, why="the event is no longer stored")
    scene.services.print_lines(scene.pane, "compacted")
    assert await check(scene.add_detection().event) == TriggerCheckResult(is_so=True, why="the text is still there")
    scene.pane_observer.change_pane(scene.pane, screen=("shown",))
    assert await check(None, "shown") == TriggerCheckResult(is_so=True, why="the text is still there")
    assert await check(None, "other") == TriggerCheckResult(is_so=False, why="the text is no longer there")


async def test_the_newest_200_detections_are_recalled_completely():
    scene = WorkflowScene()
    for number in range(201):
        scene.add_detection(captures={"n": str(number)})
    run = Run(id=RunId(1), workflow="w", at=1, correlation="c", pane=scene.pane)
    execution = StepExecution(run=run, step=RunStep(number=0, kind="recall", at=1))
    found = (await scene.build_engine().step_runner.run_step(RecallCall(event="session.*"), execution)).found
    assert len(found) == 200
    assert found[-1] == RecalledDetection(
        event=201, at=scene.clock.now(), type="session.compaction", captures={"n": "200"}
    )


async def test_a_question_stays_open_while_its_condition_is_not_met():
    async def asks(context) -> str:
        answer = await context.ask_person("?", expires=600, unless=WaitFor(gone="code", timeout=5))
        return f"{answer.choice}:{answer.why}"

    scene = build_scene(asks)
    scene.gate.hangs = True
    scene.pane_observer.change_pane(scene.pane, screen=("the code",))
    async with run_engine(scene) as engine:
        await engine.start_run(build_manual_run(scene))
        await advance_time(scene, 1.0, 12)
        assert scene.runs.stored_runs[1].status == "waiting"
        scene.pane_observer.change_pane(scene.pane, screen=())
        assert (await wait_until_ended(scene)).why == ":needless"
    assert scene.gate.withdrawn_correlations == ["c.1.0.1", "c.1"]
