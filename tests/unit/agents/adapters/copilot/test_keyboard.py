"""Copilot keyboard: keys only for the screen that is shown."""

import json

from termvisor.agents.adapters.copilot import keyboard
from tests.unit.agents.adapters.copilot.screens import (
    APPROVAL,
    WORKING_FOOTER,
    build_composer_screen,
    build_dialog_screen,
)

OTHER = tuple(row.replace("❯ 1.", "  1.").replace("  3. No", "❯ 3. No") for row in APPROVAL)


def test_allow_keys_lead_to_the_option_yes():
    press, moved = (
        keyboard.find_answer_keys(build_dialog_screen(*APPROVAL), "allow"),
        keyboard.find_answer_keys(build_dialog_screen(*OTHER), "allow"),
    )
    assert press is not None
    assert moved is not None
    assert (press.keys, press.rule) == (("Enter",), "copilot.screen.approval_asked")
    assert moved.keys == ("Up", "Up", "Enter")


def test_deny_is_escape():
    press = keyboard.find_answer_keys(build_dialog_screen(*APPROVAL), "deny")
    assert press is not None
    assert press.keys == ("Escape",)
    assert any("Do you want to run this command?" in row for row in press.rows)


def test_a_screen_without_a_dialog_has_no_keys():
    assert keyboard.find_answer_keys(build_composer_screen(" ❯ go", " ● words"), "allow") is None
    assert keyboard.find_interrupt_keys(build_composer_screen()) is None


def test_a_working_screen_is_interrupted_by_one_key():
    pressed = keyboard.find_interrupt_keys(build_composer_screen(" ❯ go", below=WORKING_FOOTER))
    assert pressed == keyboard.KeyPress(keys=("C-c",), rule="copilot.screen.working")


def test_an_empty_composer_is_distinguished_from_a_draft():
    assert keyboard.read_composer(build_composer_screen()) == ""
    assert keyboard.read_composer(build_composer_screen(typed="half a thought"))
    assert keyboard.read_composer(build_dialog_screen(*APPROVAL)) is None


def test_the_hook_answer_has_the_format_of_copilot():
    assert json.loads(keyboard.format_hook_answer("allow")) == {"behavior": "allow"}
    assert json.loads(keyboard.format_hook_answer("deny", "No.")) == {"behavior": "deny", "message": "No."}
