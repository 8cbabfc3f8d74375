"""How Gemini is spoken to: only with keys that fit what is shown."""

import json

from termvisor.agents.adapters.gemini import keyboard as channel
from tests.unit.agents.adapters.gemini.screens import APPROVAL, LIMIT, asked, composed

OTHER = (*APPROVAL[:3], "  1. Allow once", "● 2. Allow for this session", "  3. No, suggest changes (esc)")


def test_to_allow_is_to_go_to_that_very_choice():
    press = channel.answer(asked(*APPROVAL), "allow")
    assert press is not None
    assert (press.keys, press.rule) == (("Enter",), "gemini.screen.approval_asked")
    assert any("● 1. Allow once" in row for row in press.rows)
    moved = channel.answer(asked(*OTHER), "allow")
    assert moved is not None
    assert moved.keys == ("Up", "Enter")


def test_to_refuse_is_escape():
    press = channel.answer(asked(*APPROVAL), "deny")
    assert press is not None
    assert press.keys == ("Escape",)


def test_nothing_is_pressed_where_nothing_is_asked():
    assert channel.answer(composed(" > go", "✦ words"), "allow") is None
    assert channel.answer(asked(*LIMIT), "allow") is None
    assert channel.answer(asked("Do you trust the files in this folder?", "● 1. Trust folder (x)"), "allow") is None


def test_the_limits_dialog_is_left_without_another_try():
    press = channel.choose(asked(*LIMIT), "Stop")
    assert press is not None
    assert press.keys == ("Down", "Enter")
    assert channel.choose(asked(*APPROVAL), "Stop") is None


def test_only_work_is_interrupted():
    working = composed(" > go", status=" ⠙ Thinking... (esc to cancel, 1s)")
    assert channel.interrupt(working) == channel.Press(keys=("Escape",), rule="gemini.screen.working")
    assert channel.interrupt(composed(" > go", "✦ words")) is None


def test_a_composer_is_empty_or_somebody_writes_in_it():
    assert channel.is_composer_empty(composed()) is True
    assert channel.is_composer_empty(composed(typed=" > half a thought")) is False
    assert channel.is_composer_empty(asked(*APPROVAL)) is None


def test_a_hook_can_refuse():
    assert json.loads(channel.hook_answer("deny", "Not now.")) == {"decision": "deny", "reason": "Not now."}
    assert channel.hook_answer("allow") == ""
