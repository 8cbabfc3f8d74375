"""Gemini keyboard: keys only for the screen that is shown."""

import json

from termvisor.actions.pane_snapshot import get_agent_interaction
from termvisor.agents.adapters.gemini import keyboard
from tests.unit.agents.adapters.gemini.screens import APPROVAL, LIMIT, build_composer_screen, build_dialog_screen

OTHER = (*APPROVAL[:3], "  1. Allow once", "● 2. Allow for this session", "  3. No, suggest changes (esc)")


def test_allow_keys_lead_to_allow_once():
    press = keyboard.find_answer_keys(build_dialog_screen(*APPROVAL), "allow")
    assert press is not None
    assert (press.keys, press.rule) == (("Enter",), "gemini.screen.approval_asked")
    assert any("● 1. Allow once" in row for row in press.rows)
    moved = keyboard.find_answer_keys(build_dialog_screen(*OTHER), "allow")
    assert moved is not None
    assert moved.keys == ("Up", "Enter")


def test_deny_is_escape():
    press = keyboard.find_answer_keys(build_dialog_screen(*APPROVAL), "deny")
    assert press is not None
    assert press.keys == ("Escape",)


def test_a_screen_without_a_permission_dialog_has_no_answer_keys():
    assert keyboard.find_answer_keys(build_composer_screen(" > go", "✦ words"), "allow") is None
    assert keyboard.find_answer_keys(build_dialog_screen(*LIMIT), "allow") is None
    assert (
        keyboard.find_answer_keys(
            build_dialog_screen("Do you trust the files in this folder?", "● 1. Trust folder (x)"), "allow"
        )
        is None
    )


def test_the_limit_dialog_is_closed_by_stop():
    press = keyboard.find_option_keys(build_dialog_screen(*LIMIT), "Stop")
    assert press is not None
    assert press.keys == ("Down", "Enter")
    assert keyboard.find_option_keys(build_dialog_screen(*APPROVAL), "Stop") is None


def test_interrupt_keys_exist_only_on_a_working_screen():
    working = build_composer_screen(" > go", status=" ⠙ Thinking... (esc to cancel, 1s)")
    assert keyboard.find_interrupt_keys(working) == keyboard.KeyPress(keys=("Escape",), rule="gemini.screen.working")
    assert keyboard.find_interrupt_keys(build_composer_screen(" > go", "✦ words")) is None


def test_an_empty_composer_is_distinguished_from_a_draft():
    assert get_agent_interaction("gemini").read_composer(build_composer_screen()) == ""
    assert get_agent_interaction("gemini").read_composer(build_composer_screen(typed=" > half a thought"))
    assert get_agent_interaction("gemini").read_composer(build_dialog_screen(*APPROVAL)) is None


def test_the_hook_answer_can_deny():
    assert json.loads(keyboard.format_hook_answer("deny", "Not now.")) == {"decision": "deny", "reason": "Not now."}
    assert keyboard.format_hook_answer("allow") == ""
