"""Steps that recall detections, find sessions and search code."""

from termvisor.clock import NS
from termvisor.model.ids import RuntimeId, SessionId
from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.calls import CodeSearchResult, RecalledDetection, RecallResult, SessionRecord
from termvisor.workflows.workflow import Workflow
from tests.unit.workflows.engine.test_engine import asked_for
from tests.unit.workflows.running_engine import run_engine, wait_until_ended


def scene_with(work) -> WorkflowScene:
    return WorkflowScene(Workflow(name="refresh", summary="", run=work))


async def run_work(work, prepare=lambda scene: None) -> str:
    scene = scene_with(work)
    prepare(scene)
    async with run_engine(scene) as engine:
        await engine.start_run(asked_for(scene))
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
        nobody = await context.last_session(RuntimeId(5))
        return f"{kept.session} {kept.tokens['total']} {nobody.id}"

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
