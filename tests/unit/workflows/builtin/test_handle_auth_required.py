"""A login is shown to a person and seen to succeed; nothing is ever typed for it."""

import pytest

from termvisor.errors import Refused
from termvisor.model.action.action import AskPerson, Notify, kind_of
from termvisor.model.ids import RuntimeId
from termvisor.model.workflow.run import RunId
from termvisor.testing.runs import Scene
from termvisor.workflows.builtin.handle_auth_required import WORKFLOW
from tests.unit.workflows.living import ended, living, pass_time

RUNTIME = RuntimeId(4)
TOLD = {"code": "ABCD-12345", "url": "https://example.com/device"}
ROW = "Enter this one-time code ABCD-12345"


def scene_of(**facts) -> Scene:
    scene = Scene(WORKFLOW)
    known = {"agent": "codex", "runtime": RUNTIME, "state": "waiting_input", "auth_needed": True, "screen": (ROW,)}
    scene.sight.change(scene.pane, **known | facts)
    return scene


def find(scene: Scene, type_: str = "auth.device_code", **more) -> None:
    given = {"captures": TOLD, "runtime": RUNTIME, "agent": "codex", "source": "screen", "context": ROW}
    scene.find(type_, **given | more)


def logs_in(scene: Scene):
    """The person answers, and has logged in before."""

    def after(action) -> None:
        if isinstance(action, AskPerson):
            scene.sight.change(scene.pane, auth_needed=False, state="idle")

    return after


async def test_the_person_sees_the_address_and_the_code_and_the_login_is_verified():
    scene = scene_of()
    scene.hands.after = logs_in(scene)
    async with living(scene):
        find(scene)
        run = await ended(scene)
    assert (run.status, run.why) == ("completed", "codex is logged in, and idle")
    told, asked = scene.hands.done
    assert isinstance(told, Notify)
    assert {"https://example.com/device", "ABCD-12345"} <= set(told.text.split())
    assert "ABCD-12345" in asked.question
    assert scene.detected.handled[1].by == "workflow:handle_auth_required"


async def test_a_login_that_succeeds_by_itself_withdraws_the_question():
    scene = scene_of()
    real = scene.hands.do

    async def do(action, actor, terms):
        scene.hands.hangs = isinstance(action, AskPerson)
        return await real(action, actor, terms)

    scene.hands.do = do
    async with living(scene):
        find(scene)
        await pass_time(scene, times=3)
        assert scene.runs.kept[RunId(1)].status == "waiting"
        scene.sight.change(scene.pane, auth_needed=False, state="idle")
        run = await ended(scene)
    assert run.status == "completed"
    assert len(scene.hands.withdrawn) == 2  # the question, and at its end whatever the run asked


async def test_without_a_flag_the_code_must_leave_the_screen():
    scene = scene_of(auth_needed=False)

    def after(action) -> None:
        if isinstance(action, AskPerson):
            scene.sight.change(scene.pane, screen=("› ",), state="idle")

    scene.hands.after = after
    async with living(scene):
        find(scene)
        run = await ended(scene)
    assert run.why == "codex is logged in, and idle"


async def test_a_missing_code_is_waited_for_twice_then_the_run_pauses_and_ends_when_the_agent_goes_on():
    scene = scene_of()
    async with living(scene):
        find(scene, "auth.required", rule="signal.auth_needed", source="signal", captures={})
        await pass_time(scene, 5.0, times=10)
        run = scene.runs.kept[RunId(1)]
        assert run.status == "paused"
        assert "it shows no code" in run.plan
        assert scene.detected.handled[1].action == "paused, as planned"
        kinds = [step.kind for step in await scene.runs.steps(RunId(1))]
        assert kinds.count("wait_for") == 2
        scene.sight.change(scene.pane, auth_needed=False, state="running")
        run = await ended(scene)
    assert run.why == "codex is logged in, and running"


async def test_one_that_goes_on_is_logged_in_once_it_was_answered():
    scene = scene_of()
    async with living(scene):
        find(scene, "auth.required", rule="signal.auth_needed", source="signal", captures={})
        await pass_time(scene, 5.0, times=10)
        scene.sight.change(scene.pane, state="running")
        await pass_time(scene, 1.0, times=3)
        assert scene.runs.kept[RunId(1)].status == "running"
        scene.sight.change(scene.pane, auth_needed=False, state="completed")
        run = await ended(scene)
    assert run.why == "codex is logged in, and completed"


@pytest.mark.parametrize("captures", [{}, {"url": TOLD["url"]}], ids=["no code", "an address alone"])
async def test_one_that_tells_of_its_login_before_it_stops_does_not_go_on_by_stopping(captures):
    scene = scene_of(state="running")
    async with living(scene):
        find(scene, "auth.required", rule="signal.auth_needed", source="signal", captures=captures)
        await pass_time(scene)
        scene.sight.change(scene.pane, state="idle")
        await pass_time(scene, 5.0, times=20)
        assert scene.runs.kept[RunId(1)].status == "paused"
        scene.sight.change(scene.pane, auth_needed=False, state="running")
        run = await ended(scene)
    assert run.why == "codex is logged in, and running"


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://example.com/authorize?state=1", "open https://example.com/authorize?state=1, and enter in the pane"),
        ("https://example.com/" + "x" * 380, "open the address that it shows, and enter in the pane"),
    ],
    ids=["whole", "cut"],
)
async def test_an_address_without_a_code_is_told_at_once_if_it_is_whole(url, words):
    scene = scene_of(agent="gemini")
    async with living(scene):
        find(scene, captures={"url": url})
        await pass_time(scene, times=3)
        run = scene.runs.kept[RunId(1)]
    assert words in run.plan
    assert [kind_of(one) for one in scene.hands.done] == ["notify"]


async def test_a_code_that_comes_while_one_waits_is_told_by_its_own_run():
    scene = scene_of()
    scene.hands.after = logs_in(scene)
    async with living(scene):
        find(scene, "auth.required", rule="signal.auth_needed", source="signal", captures={})
        await pass_time(scene, 5.0)
        find(scene)
        first, second = await ended(scene), await ended(scene, 2)
    assert "run of its own" in first.why
    assert second.why == "codex is logged in, and idle"


async def test_done_without_a_login_pauses():
    scene = scene_of()
    async with living(scene):
        find(scene)
        await pass_time(scene, 10.0, times=8)
        run = scene.runs.kept[RunId(1)]
        assert (run.status, "it still asks for a login" in run.plan) == ("paused", True)


async def test_a_person_who_stops_it_ends_it_and_a_way_that_fails_does_not():
    scene = scene_of()
    scene.hands.errors = [Refused("no terminal"), Refused("no", details={"why": "denied"})]
    async with living(scene):
        find(scene)
        run = await ended(scene)
    assert (run.status, run.why) == ("cancelled", "a person sees to the login")


@pytest.mark.parametrize(
    ("facts", "status", "why"),
    [
        ({"auth_needed": False, "screen": ("› ",)}, "completed", "nothing asks for a login any more"),
        ({"agent": "", "runtime": RUNTIME}, "cancelled", "the agent has left the pane"),
    ],
)
async def test_what_is_past_is_not_answered(facts, status, why):
    scene = scene_of(**facts)
    async with living(scene):
        find(scene)
        run = await ended(scene)
    assert (run.status, run.why, scene.hands.done) == (status, why, [])


async def test_nothing_but_words_to_people_ever_leaves_it():
    scene = scene_of()
    scene.hands.after = logs_in(scene)
    async with living(scene):
        find(scene)
        await ended(scene)
    assert {kind_of(action) for action in scene.hands.done} == {"notify", "ask_person"}
