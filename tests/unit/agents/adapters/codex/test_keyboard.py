"""Codex keyboard: keys only for the screen that is shown."""

import json
from functools import partial

import pytest

from termvisor.actions.pane_snapshot import get_agent_interaction
from termvisor.agents.adapters.codex import keyboard
from termvisor.agents.adapters.codex.screen import parse_layout
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import Screen
from tests.unit.agents.adapters.codex.test_screen import ASKED, FOOT, HITS, LIMIT, MODAL


def build_screen(*rows: str) -> Screen:
    return Screen(pane=PaneId(1), rows=rows, width=100, height=40)


def test_an_approval_dialog_has_its_answer_keys():
    rule, rows = "codex.screen.approval_asked", parse_layout(ASKED).dialog
    assert keyboard.find_answer_keys(build_screen(*ASKED), "allow") == keyboard.KeyPress(
        keys=("y",), rule=rule, rows=rows
    )
    assert keyboard.find_answer_keys(build_screen(*ASKED), "deny") == keyboard.KeyPress(
        keys=("Escape",), rule=rule, rows=rows
    )
    assert any("Yes, proceed" in row for row in rows)


def test_the_limit_dialog_is_closed_by_keeping_the_model():
    press = keyboard.find_option_keys(build_screen(LIMIT, *MODAL), "Keep current model")
    assert press is not None
    assert press.keys[-1] == "Enter"
    assert set(press.keys[:-1]) <= {"Down"}


@pytest.mark.parametrize("name", sorted(set(HITS) - {"approval_asked"}))
def test_other_screens_have_no_answer_keys(name):
    assert keyboard.find_answer_keys(build_screen(*HITS[name]), "allow") is None
    assert keyboard.find_answer_keys(build_screen(*HITS[name]), "deny") is None


def test_a_dialog_with_other_options_has_no_answer_keys():
    changed = [row.replace("Yes, proceed (y)", "Yes, and never ask again (y)") for row in ASKED]
    assert keyboard.find_answer_keys(build_screen(*changed), "allow") is None


def test_interrupt_keys_exist_only_on_a_working_screen():
    assert keyboard.find_interrupt_keys(build_screen(*HITS["working"])) == keyboard.KeyPress(
        keys=("Escape",), rule="codex.screen.working", rows=("esc to interrupt",)
    )
    assert keyboard.find_interrupt_keys(build_screen(*HITS["turn_ended"])) is None
    assert keyboard.find_interrupt_keys(build_screen(*ASKED)) is None


def test_the_composer_text_is_read():
    assert get_agent_interaction("codex").read_composer(build_screen("• Hello.", *FOOT)) == ""
    assert (
        get_agent_interaction("codex").read_composer(
            build_screen("• Hello.", "› half a thought", "", "  gpt-6 default · ~/src")
        )
        == "half a thought"
    )
    assert get_agent_interaction("codex").read_composer(build_screen(LIMIT, *MODAL)) is None
    assert get_agent_interaction("codex").read_composer(build_screen("$")) is None


def test_answer_and_interrupt_keys_are_never_enter():
    offers = [
        keys
        for choose in (
            partial(keyboard.find_answer_keys, decision="allow"),
            partial(keyboard.find_answer_keys, decision="deny"),
            keyboard.find_interrupt_keys,
        )
        for rows in HITS.values()
        if (keys := choose(build_screen(*rows))) is not None
    ]
    assert {key for keys in offers for key in keys.keys} == {"y", "Escape"}


def test_exit_keys_exist_only_on_an_idle_screen():
    assert keyboard.find_exit_keys(build_screen(*HITS["turn_ended"])).keys == ("C-c",)
    assert keyboard.find_exit_keys(build_screen(*HITS["working"])) is None
    assert keyboard.find_exit_keys(build_screen(*ASKED)) is None


def test_an_option_is_reached_with_arrow_keys():
    shown = build_screen(*(row.replace("3. No", "2. No") for row in ASKED))
    assert keyboard.find_option_keys(shown, "No, and tell Codex what to do differently (esc)").keys == ("Down", "Enter")
    assert keyboard.find_option_keys(shown, "no such choice") is None
    assert keyboard.find_option_keys(build_screen(*ASKED), "Yes, proceed (y)") is None


def test_the_hook_answer_has_the_format_of_codex():
    answer = json.loads(keyboard.format_hook_answer("deny", "Not now."))["hookSpecificOutput"]["decision"]
    assert answer == {"behavior": "deny", "message": "Not now."}
