"""Keys for described agents: only certain choices, never a bare Enter."""

import pytest

from termvisor.agents.adapters.described.keyboard import build_keyboard
from termvisor.agents.adapters.description_files import (
    build_example_screen,
    load_builtin_descriptions,
    read_description,
)
from tests.unit.agents.adapters.described_agent import DESCRIPTION, write_description

RULE = "─" * 60
ASKED = f"""{RULE}
  Run this command?
  touch made

  Do you want to proceed?
{{options}}

  Enter to select · Esc to cancel"""


@pytest.fixture
def build_toy(tmp_path):
    return lambda more="": build_keyboard(read_description(str(write_description(str(tmp_path), DESCRIPTION + more))))


def build_dialog(*options, selected=0):
    rows = [f"  {'❯' if at == selected else ' '} {at + 1}. {label}" for at, label in enumerate(options)]
    return build_example_screen(ASKED.format(options="\n".join(rows)), (0, 0))


@pytest.mark.parametrize(
    ("selected", "allow", "deny"),
    [
        (0, ("Enter",), ("Down", "Down", "Enter")),
        (1, ("Up", "Enter"), ("Down", "Enter")),
        (2, ("Up", "Up", "Enter"), ("Enter",)),
    ],
)
def test_an_option_is_reached_from_the_pointer(build_toy, selected, allow, deny):
    screen = build_dialog("Yes", "Yes, and don't ask again", "No", selected=selected)
    toy = build_toy()
    assert (toy.find_answer_keys(screen, "allow").keys, toy.find_answer_keys(screen, "deny").keys) == (allow, deny)
    assert toy.find_option_keys(screen, "No").keys == deny
    assert [row.strip() for row in toy.find_answer_keys(screen, "allow").rows][:3] == [
        "Run this command?",
        "touch made",
        "Do you want to proceed?",
    ]


def test_a_number_is_pressed_if_the_description_says_so(build_toy):
    screen = build_dialog("Yes", "Yes, and don't ask again", "No", selected=1)
    toy = build_toy('[dialog]\nchoose = "numbers"\n')
    assert toy.find_answer_keys(screen, "allow").keys == ("1",)
    assert toy.find_answer_keys(screen, "deny").keys == ("3",)


@pytest.mark.parametrize(
    ("options", "selected"),
    [
        (("Yes", "Yes, run it", "No", "No, stop"), 0),
        (("Yes, always", "Allow for this session", "No", "Cancel"), 0),
        (("Yes", "No"), None),
    ],
)
def test_an_uncertain_choice_has_no_keys(build_toy, options, selected):
    screen = build_dialog(*options, selected=selected)
    assert build_toy().find_answer_keys(screen, "allow") is None


def test_a_pattern_of_the_description_makes_a_choice_certain(build_toy):
    screen = build_dialog("Yes", "Yes, run it", "No", "No, stop")
    toy = build_toy("[dialog]\nallow = '^Yes$'\ndeny = '^No$'\n")
    assert toy.find_answer_keys(screen, "allow").keys == ("Enter",)
    assert toy.find_answer_keys(screen, "deny").keys == ("Down", "Down", "Enter")


@pytest.mark.parametrize(("typed", "allow"), [("", ("y", "Enter")), ("y", ("Enter",)), ("n", None), ("yes", None)])
def test_a_question_at_the_cursor_is_answered_with_a_letter_and_enter(typed, allow):
    aider = build_keyboard(load_builtin_descriptions().adapters["aider"])
    screen = build_example_screen(f"Run shell command? (Y)es/(N)o/(D)on't ask again [Yes]: {typed}", None)
    press = aider.find_answer_keys(screen, "allow")
    assert (press.keys if press else None) == allow


def test_the_composer_is_read_without_its_sign_and_placeholder(build_toy):
    toy = build_toy()
    shown = "● done\n{rule}\n> {text}\n{rule}\n  toy model"
    read = [
        toy.read_composer(build_example_screen(shown.format(rule=RULE, text=text), (2 + len(text), 2)))
        for text in ("Ask the toy", "", "fix it", "fix it \u200b")
    ]
    assert read == ["", "", "fix it", "fix it"]
    assert toy.read_composer(build_dialog("Yes", "No")) is None
    aider = build_keyboard(load_builtin_descriptions().adapters["aider"])
    assert [aider.read_composer(build_example_screen(text, None)) for text in ("> ", "ask> add", "$ ")] == [
        "",
        "add",
        None,
    ]


def test_work_is_interrupted_and_a_resting_agent_is_exited(build_toy):
    toy = build_toy()
    work = f"> go\n\n✻ Thinking… (3s · esc to interrupt)\n\n{RULE}\n> \n{RULE}\n  toy model"
    rest = f"{RULE}\n> \n{RULE}\n  toy model"
    running, resting = build_example_screen(work, (2, 5)), build_example_screen(rest, (2, 1))
    assert toy.find_interrupt_keys(running).keys == ("Escape",)
    assert toy.find_exit_keys(running) is None
    assert toy.find_interrupt_keys(resting) is None
    assert toy.find_exit_keys(resting).keys == ("C-d",)


def test_a_dialog_with_letters_is_answered_by_the_letter_alone():
    adapter = load_builtin_descriptions().adapters["cline"]
    (example,) = [one for one in adapter.description.example if one.state == "waiting_approval"]
    screen = build_example_screen(example.screen, example.cursor)
    presses = [build_keyboard(adapter).find_answer_keys(screen, choice) for choice in ("allow", "deny")]
    assert [press.keys for press in presses] == [("y",), ("n",)]
    assert presses[0].rows == presses[1].rows
    assert "   $ touch made" in presses[0].rows
