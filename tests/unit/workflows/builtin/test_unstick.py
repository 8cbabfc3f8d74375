"""An agent that gets nowhere is shown to a person, and nudged once they agree."""

import pytest

from termvisor.errors import Conflict, Refused
from termvisor.model.action.action import AskPerson, Notify, SendText
from termvisor.model.action.outcome import Outcome
from termvisor.model.ids import RuntimeId
from termvisor.testing.runs import Scene
from termvisor.workflows.builtin.unstick import WORKFLOW, nudge, summary, symbols
from termvisor.workflows.calls import CodeFound, Observation
from tests.unit.workflows.living import ended, living

RUNTIME = RuntimeId(4)
ROWS = ("TypeError: 'parse_rule' got an unexpected keyword", "● Update(src/a.py)", "  parse_rule(text)", "✻ Thinking…")


def scene_of(mode: str = "on", **facts) -> Scene:
    scene = Scene(WORKFLOW)
    scene.modes.modes["unstick"] = mode
    known = {"agent": "codex", "runtime": RUNTIME, "state": "running", "screen": ROWS}
    scene.sight.change(scene.pane, **known | facts)
    scene.code.found = CodeFound(places=("src/a.py:7: def parse_rule(text):",))

    def after(action) -> None:
        if isinstance(action, SendText):
            scene.sight.change(scene.pane, state="waiting_input", state_at=scene.clock.now())

    scene.hands.after = after
    return scene


async def lived(scene: Scene):
    async with living(scene):
        scene.find("agent.stuck", runtime=RUNTIME, agent="codex", captures={"minutes": "12"}, source="signal")
        return await ended(scene)


async def test_a_person_sees_the_screen_and_the_code_and_then_it_is_nudged():
    scene = scene_of()
    run = await lived(scene)
    asked, sent = scene.hands.done
    assert isinstance(asked, AskPerson)
    assert "unexpected keyword" in asked.question
    assert "src/a.py:7" in asked.question
    assert sent.text.startswith("You have shown no progress for 12 minutes.")
    assert sent.text.endswith("These places may help: src/a.py:7.")
    assert run.why == "the nudge was sent, and the agent is waiting_input"
    assert scene.code.asked[0][0] == "parse_rule"


async def test_a_nudge_that_is_not_proven_is_said_and_never_sent_again():
    scene = scene_of()
    scene.hands.outcome = Outcome(status="unknown", why="not_confirmed")
    run = await lived(scene)
    assert (run.status, "nothing proves" in run.why) == ("completed", True)
    assert sum(isinstance(one, SendText) for one in scene.hands.done) == 1


async def test_a_run_whose_acts_are_asked_about_asks_once():
    scene = scene_of("ask")
    await lived(scene)
    assert [type(one) for one in scene.hands.done] == [Notify, SendText]
    assert [terms.asks for terms in scene.hands.terms] == [False, True]


@pytest.mark.parametrize("error", [Refused("no", details={"why": "denied"})])
async def test_a_no_leaves_it_alone(error):
    scene = scene_of()
    scene.hands.errors = [error]
    run = await lived(scene)
    assert (run.status, run.why, scene.hands.done) == ("cancelled", "a person leaves it alone", [])


async def test_a_person_who_types_there_is_not_disturbed():
    scene = scene_of("ask")
    scene.hands.errors = [Refused("no terminal"), Conflict("somebody types", details={"why": "human_typing"})]
    run = await lived(scene)
    assert (run.status, scene.hands.done) == ("cancelled", [])


@pytest.mark.parametrize("facts", [{"state": "idle"}, {"agent": "", "runtime": RUNTIME}, {"state": "waiting_approval"}])
async def test_one_that_goes_on_by_itself_is_left_alone(facts):
    scene = scene_of(**facts)
    run = await lived(scene)
    assert (run.status, scene.hands.done) == ("cancelled", [])


async def test_without_a_program_for_code_it_is_said_plainly():
    scene = scene_of()
    scene.code.found = CodeFound(trouble="ast-grep is not installed, so no code was searched")
    await lived(scene)
    assert "ast-grep is not installed" in scene.hands.done[0].question
    assert "These places" not in scene.hands.done[1].text


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
    assert symbols(rows) == found


def test_the_summary_is_short_and_a_nudge_is_one_line():
    seen = Observation(at=0, pane=1, screen=tuple(f"row {number} " + "x" * 300 for number in range(40)))
    shown = summary(seen, CodeFound())
    assert len(shown.splitlines()) == 13
    assert max(map(len, shown.splitlines())) <= 120
    assert "\n" not in nudge("3", ("a.py:1: x", "b.py:2: y"))
