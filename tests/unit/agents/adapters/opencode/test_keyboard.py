"""opencode keyboard: keys that deny, interrupt or exit."""

from termvisor.agents.adapters.opencode import keyboard
from tests.unit.agents.adapters.opencode.screens import (
    PERMISSION_PANEL,
    WORKING_FOOTER,
    add_left_bar,
    build_composer_screen,
    build_panel_screen,
)


def test_keys_can_deny_but_not_allow():
    press = keyboard.find_answer_keys(build_panel_screen(*PERMISSION_PANEL), "deny")
    assert press is not None
    assert press.keys == ("Escape",)
    assert keyboard.find_answer_keys(build_panel_screen(*PERMISSION_PANEL), "allow") is None
    assert keyboard.find_answer_keys(build_composer_screen(), "deny") is None


def test_a_working_screen_is_interrupted_by_the_missing_escapes():
    twice, once = (
        keyboard.find_interrupt_keys(build_composer_screen(below=WORKING_FOOTER)),
        keyboard.find_interrupt_keys(build_composer_screen(below="   ⬝⬝■■■■■■  esc again to interrupt")),
    )
    assert twice is not None
    assert once is not None
    assert (twice.keys, once.keys) == (("Escape", "Escape"), ("Escape",))
    assert twice.pause_s > 0
    assert keyboard.find_interrupt_keys(build_composer_screen()) is None


def test_an_empty_composer_is_distinguished_from_a_draft():
    assert keyboard.read_composer(build_composer_screen(*add_left_bar("go"))) == ""
    assert keyboard.read_composer(build_composer_screen(typed="Ask anything… ")) == ""
    assert keyboard.read_composer(build_composer_screen(typed="half a thought"))
    assert keyboard.read_composer(build_panel_screen(*PERMISSION_PANEL)) is None
