"""A stuck agent is shown to a person and nudged once they agree."""

import pytest

from termvisor.errors import Conflict, Refused
from termvisor.model.action.action import AskPerson, Notify, SendText
from termvisor.model.action.outcome import Outcome
from termvisor.model.ids import RuntimeId
from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.builtin.unstick import WORKFLOW, extract_symbols, render_nudge, render_summary
from termvisor.workflows.results import CodeSearchResult, Observation
from tests.unit.workflows.running_engine import run_engine, wait_until_ended

RUNTIME = RuntimeId(4)
ROWS = ("TypeError: 'parse_rule' got an unexpected keyword", "● Update(src/a.py)", "  parse_rule(text)", "✻ Thinking…")


def build_scene(mode: str = "on", **facts) -> WorkflowScene:
    scene = WorkflowScene(WORKFLOW)
    scene.modes.modes["unstick"] = mode
    known = {"agent": "codex", "runtime": RUNTIME, "state": "running", "screen": ROWS}
    scene.pane_observer.change_pane(scene.pane, **known | facts)
    scene.code_search.result = CodeSearchResult(places=("src/a.py:7: def parse_rule(text):",))

    def after(action) -> None:
        if isinstance(action, SendText):
            scene.pane_observer.change_pane(scene.pane, state="waiting_input", state_at=scene.clock.now())

    scene.gate.after_action = after
    return scene


async def run_workflow(scene: WorkflowScene):
    async with run_engine(scene):
        scene.add_detection("agent.stuck", runtime=RUNTIME, agent="codex", captures={"minutes": "12"}, source="signal")
        return await wait_until_ended(scene)


async def test_a_person_is_shown_screen_and_code_before_the_nudge():
    scene = build_scene()
    run = await run_workflow(scene)
    asked, sent = scene.gate.executed
    assert isinstance(asked, AskPerson)
    assert "unexpected keyword" in asked.question
    assert "src/a.py:7" in asked.question
    assert sent.text.startswith("You have shown no progress for 12 minutes.")
    assert sent.text.endswith("These places may help: src/a.py:7.")
    assert run.why == "the nudge was sent, and the agent is waiting_input"
    assert scene.code_search.requested_names[0][0] == "parse_rule"


async def test_an_uncertain_nudge_is_reported_and_not_repeated():
    scene = build_scene()
    scene.gate.outcome = Outcome(status="unknown", why="not_confirmed")
    run = await run_workflow(scene)
    assert (run.status, "not known whether it arrived" in run.why) == ("completed", True)
    assert sum(isinstance(one, SendText) for one in scene.gate.executed) == 1


async def test_in_mode_ask_only_the_action_requires_approval():
    scene = build_scene("ask")
    await run_workflow(scene)
    assert [type(one) for one in scene.gate.executed] == [Notify, SendText]
    assert [preconditions.asks for preconditions in scene.gate.received_preconditions] == [False, True]


@pytest.mark.parametrize("error", [Refused("no", details={"why": "denied"})])
async def test_a_declined_nudge_is_not_sent(error):
    scene = build_scene()
    scene.gate.errors = [error]
    run = await run_workflow(scene)
    assert (run.status, run.why, scene.gate.executed) == ("cancelled", "a person declined the nudge", [])


async def test_a_typing_user_gets_no_nudge():
    scene = build_scene("ask")
    scene.gate.errors = [Refused("no terminal"), Conflict("a user is typing", details={"why": "human_typing"})]
    run = await run_workflow(scene)
    assert (run.status, scene.gate.executed) == ("cancelled", [])


@pytest.mark.parametrize("facts", [{"state": "idle"}, {"agent": "", "runtime": RUNTIME}, {"state": "waiting_approval"}])
async def test_an_agent_that_continues_by_itself_is_not_nudged(facts):
    scene = build_scene(**facts)
    run = await run_workflow(scene)
    assert (run.status, scene.gate.executed) == ("cancelled", [])


async def test_a_missing_ast_grep_is_reported():
    scene = build_scene()
    scene.code_search.result = CodeSearchResult(trouble="ast-grep is not installed, so no code was searched")
    await run_workflow(scene)
    assert "ast-grep is not installed" in scene.gate.executed[0].question
    assert "These places" not in scene.gate.executed[1].text


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        (("nothing to see here",), ()),
        (("one snake_name only",), ()),
        (("NameError: name 'load_kept' is not defined",), ("load_kept",)),
        (("foo_bar(1)", "foo_bar(2)", "BazQux(", "the 'other_one'"), ("foo_bar", "other_one", "BazQux")),
        (("--option=x; rm -rf /", "$(evil)"), ("evil",) * 0),
    ],
)
def test_names_are_taken_from_quotes_calls_and_shapes(rows, found):
    assert extract_symbols(rows) == found


def test_the_summary_is_short_and_a_nudge_is_one_line():
    seen = Observation(at=0, pane=1, screen=tuple(f"row {number} " + "x" * 300 for number in range(40)))
    shown = render_summary(seen, CodeSearchResult())
    assert len(shown.splitlines()) == 13
    assert max(map(len, shown.splitlines())) <= 120
    assert "\n" not in render_nudge("3", ("a.py:1: x", "b.py:2: y"))


@pytest.mark.parametrize("mode", ["on", "ask"])
async def test_a_screen_without_names_is_shown_as_it_is(mode):
    scene = build_scene(mode, screen=("Thinking",))
    run = await run_workflow(scene)
    assert (run.status, scene.code_search.requested_names) == ("completed", [])
    shown = scene.gate.executed[0]
    text = shown.question if isinstance(shown, AskPerson) else shown.text
    assert text.endswith("Thinking\ncode: the screen shows no names of code")


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"agent": ""}, "its agent has exited"),
        ({"runtime": RuntimeId(5)}, "its agent exited"),
        ({"state": "idle"}, "the agent is idle now"),
    ],
)
async def test_an_agent_that_is_no_longer_stuck_is_left_alone(facts, why):
    scene = build_scene(**facts)
    run = await run_workflow(scene)
    assert (run.status, run.why, scene.gate.executed) == ("cancelled", why, [])


async def test_a_nudge_without_a_reaction_is_queued():
    scene = build_scene()
    scene.gate.after_action = lambda action: None
    run = await run_workflow(scene)
    assert (run.status, run.why) == ("completed", "the nudge was sent; the agent has queued it")
