"""Dispatch of steps: trigger checks, sleeps and questions."""

import asyncio

import pytest
from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.model.action.action import RunProgram
from termvisor.model.detection.detection import Detection
from termvisor.model.ids import PaneId, RuntimeId, SessionId
from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.results import CodeSearchResult, Observation, RecalledDetection, RecallResult, SessionRecord
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
