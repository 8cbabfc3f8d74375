"""How Copilot is spoken to: only with keys that fit what is shown."""

import json

from termvisor.agents.adapters.copilot import keyboard as channel
from tests.unit.agents.adapters.copilot.screens import APPROVAL, WORK, asked, composed

OTHER = tuple(row.replace("❯ 1.", "  1.").replace("  3. No", "❯ 3. No") for row in APPROVAL)


def test_to_allow_is_to_go_to_that_very_choice():
    press, moved = channel.answer(asked(*APPROVAL), "allow"), channel.answer(asked(*OTHER), "allow")
    assert press is not None
    assert moved is not None
    assert (press.keys, press.rule) == (("Enter",), "copilot.screen.approval_asked")
    assert moved.keys == ("Up", "Up", "Enter")


def test_to_refuse_is_escape():
    press = channel.answer(asked(*APPROVAL), "deny")
    assert press is not None
    assert press.keys == ("Escape",)
    assert any("Do you want to run this command?" in row for row in press.rows)


def test_nothing_is_pressed_where_nothing_is_asked():
    assert channel.answer(composed(" ❯ go", " ● words"), "allow") is None
    assert channel.interrupt(composed()) is None


def test_one_key_interrupts_work():
    pressed = channel.interrupt(composed(" ❯ go", below=WORK))
    assert pressed == channel.Press(keys=("C-c",), rule="copilot.screen.working")


def test_a_composer_is_empty_or_somebody_writes_in_it():
    assert channel.is_composer_empty(composed()) is True
    assert channel.is_composer_empty(composed(typed="half a thought")) is False
    assert channel.is_composer_empty(asked(*APPROVAL)) is None


def test_the_hook_answers_for_a_person():
    assert json.loads(channel.hook_answer("allow")) == {"behavior": "allow"}
    assert json.loads(channel.hook_answer("deny", "No.")) == {"behavior": "deny", "message": "No."}
