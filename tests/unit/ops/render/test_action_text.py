import pytest

from termvisor.model.action.action import (
    Activate,
    Actor,
    AnswerAgent,
    AnswerDialog,
    Kill,
    SendKeys,
    SendText,
    SetTitle,
    Spawn,
)
from termvisor.ops.render.action_text import describe_action, describe_action_fields, describe_caller, format_actor

TOKEN = "ghp_" + "a1B2" * 9


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (SendText(pane=1, text="ls"), "type 'ls' and press Enter"),
        (SendText(pane=1, text="ls", enter=False), "type 'ls' and do not press Enter"),
        (SendKeys(pane=1, keys=("C-c", "Up")), "press C-c Up"),
        (Spawn(where="window", command=("make", "x"), cwd="/srv"), "start make x in a new window (in /srv)"),
        (Spawn(where="pane", beside=4), "start a shell beside pane 4"),
        (Kill(pane=1), "send SIGINT to the foreground program"),
        (Kill(pane=1, closes_pane=True), "close the pane and all its processes"),
        (Activate(pane=1), "make it the active pane"),
        (SetTitle(pane=1, title="x"), "set its title to 'x'"),
    ],
)
def test_every_action_has_a_description(action, words) -> None:
    assert describe_action(action) == words


DIALOG = '{"dialog":"Bash command\\n╌╌╌╌\\nmake test\\n╌╌╌╌\\n❯ 1. Yes\\n2. No"}'


def test_a_dialog_is_described_without_its_frame() -> None:
    request = AnswerAgent(agent="claude_code", tool="dialog", given=DIALOG, request="1")
    assert describe_action(request) == "accept the dialog of claude_code: Bash command / make test"
    without_question = AnswerAgent(
        agent="gemini", tool="dialog", given='{"dialog":"│ ● 1. Yes │\\n│ 2. No │"}', request="1"
    )
    assert describe_action(without_question) == "accept the dialog of gemini: ● 1. Yes / 2. No"
    known = AnswerAgent(agent="claude_code", tool="dialog", command="make test", given=DIALOG, request="1")
    assert describe_action(known) == "let claude_code run 'make test' (dialog)"
    answer = AnswerDialog(pane=1, agent="gemini", choice="allow", rows=("╭───╮", "│ Run? │", "╰───╯"))
    assert describe_action(answer) == "answer 'allow' to the dialog of gemini: Run?"


def test_an_invalid_dialog_payload_is_described_as_json() -> None:
    text = describe_action(AnswerAgent(agent="codex", tool="dialog", given="[", request="1"))
    assert text.startswith('answer_agent {"type":"answer_agent","agent":"codex"')


def test_unknown_kinds_and_missing_fields_are_described_as_json() -> None:
    assert describe_action_fields("model_call", {"model": "m"}) == 'model_call {"model":"m"}'
    assert describe_action_fields("send_text", {}) == "send_text {}"


def test_descriptions_are_redacted_and_sanitized() -> None:
    text = describe_action_fields("send_text", {"text": f"echo {TOKEN}\x1b[2J"})
    assert TOKEN not in text
    assert "\x1b" not in text


def test_an_actor_is_formatted_with_the_known_fields() -> None:
    assert format_actor(Actor(kind="robot", uid=1, pid=2, name="ci", pane=4)) == "robot 1 (ci) in pane 4"


@pytest.mark.parametrize(
    ("actor", "text"),
    [
        (Actor(kind="human", uid=0, pid=1), "root"),
        (Actor(kind="human", uid=0, pid=1, pane=3), "root in pane 3"),
        (Actor(kind="human", uid=4_000_000, pid=1), "uid 4000000"),
        (Actor(kind="agent", uid=0, pid=1, name="claude_code", pane=7), "agent claude_code in pane 7"),
        (Actor(kind="agent", uid=0, pid=1, pane=7), "agent of root in pane 7"),
        (Actor(kind="robot", uid=0, pid=1, name="root"), "robot root"),
        (Actor(kind="robot", uid=0, pid=1, name="a (b) in pane 2", pane=4), "robot a (b) in pane 2 in pane 4"),
    ],
)
def test_a_caller_is_described_by_names(actor, text) -> None:
    assert describe_caller(format_actor(actor)) == text


def test_voters_are_described_and_another_text_is_left_alone() -> None:
    assert describe_caller("human:0") == "root"
    assert describe_caller("robot:0:builder") == "robot builder"
    assert describe_caller("the daemon") == "the daemon"
