import json
from functools import partial

import pytest

from termvisor.agents.adapters.codex import keyboard
from termvisor.agents.adapters.codex.screen import parse_layout
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import Screen
from tests.unit.agents.adapters.codex.test_screen import ASKED, FOOT, HITS, LIMIT, MODAL


def screen(*rows: str) -> Screen:
    return Screen(pane=PaneId(1), rows=rows, width=100, height=40)


def test_keys_fit_the_dialog_that_is_open():
    rule, rows = "codex.screen.approval_asked", parse_layout(ASKED).dialog
    assert keyboard.find_answer_keys(screen(*ASKED), "allow") == keyboard.KeyPress(keys=("y",), rule=rule, rows=rows)
    assert keyboard.find_answer_keys(screen(*ASKED), "deny") == keyboard.KeyPress(
        keys=("Escape",), rule=rule, rows=rows
    )
    assert any("Yes, proceed" in row for row in rows)


def test_the_dialog_about_a_limit_is_left_by_the_choice_that_changes_nothing():
    press = keyboard.find_option_keys(screen(LIMIT, *MODAL), "Keep current model")
    assert press is not None
    assert press.keys[-1] == "Enter"
    assert set(press.keys[:-1]) <= {"Down"}


@pytest.mark.parametrize("name", sorted(set(HITS) - {"approval_asked"}))
def test_no_other_screen_is_answered_with_keys(name):
    assert keyboard.find_answer_keys(screen(*HITS[name]), "allow") is None
    assert keyboard.find_answer_keys(screen(*HITS[name]), "deny") is None


def test_a_dialog_whose_choices_are_others_is_left_alone():
    changed = [row.replace("Yes, proceed (y)", "Yes, and never ask again (y)") for row in ASKED]
    assert keyboard.find_answer_keys(screen(*changed), "allow") is None


def test_work_is_interrupted_only_while_it_shows():
    assert keyboard.find_interrupt_keys(screen(*HITS["working"])) == keyboard.KeyPress(
        keys=("Escape",), rule="codex.screen.working", rows=("esc to interrupt",)
    )
    assert keyboard.find_interrupt_keys(screen(*HITS["turn_ended"])) is None
    assert keyboard.find_interrupt_keys(screen(*ASKED)) is None


def test_the_text_in_the_composer_is_read():
    assert keyboard.read_composer(screen("• Hello.", *FOOT)) == ""
    assert (
        keyboard.read_composer(screen("• Hello.", "› half a thought", "", "  gpt-6 default · ~/src"))
        == "half a thought"
    )
    assert keyboard.read_composer(screen(LIMIT, *MODAL)) is None
    assert keyboard.read_composer(screen("$")) is None


def test_no_key_is_ever_a_bare_enter():
    offers = [
        keys
        for choose in (
            partial(keyboard.find_answer_keys, decision="allow"),
            partial(keyboard.find_answer_keys, decision="deny"),
            keyboard.find_interrupt_keys,
        )
        for rows in HITS.values()
        if (keys := choose(screen(*rows))) is not None
    ]
    assert {key for keys in offers for key in keys.keys} == {"y", "Escape"}


def test_it_leaves_only_from_rest():
    assert keyboard.find_exit_keys(screen(*HITS["turn_ended"])).keys == ("C-c",)
    assert keyboard.find_exit_keys(screen(*HITS["working"])) is None
    assert keyboard.find_exit_keys(screen(*ASKED)) is None


def test_a_choice_is_gone_to_step_by_step():
    shown = screen(*(row.replace("3. No", "2. No") for row in ASKED))
    assert keyboard.find_option_keys(shown, "No, and tell Codex what to do differently (esc)").keys == ("Down", "Enter")
    assert keyboard.find_option_keys(shown, "no such choice") is None
    assert keyboard.find_option_keys(screen(*ASKED), "Yes, proceed (y)") is None


def test_what_its_hook_prints():
    told = json.loads(keyboard.format_hook_answer("deny", "Not now."))["hookSpecificOutput"]["decision"]
    assert told == {"behavior": "deny", "message": "Not now."}
