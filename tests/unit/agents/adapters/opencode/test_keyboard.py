"""opencode keyboard: keys that answer, interrupt or exit."""

import pytest
from msgspec.structs import replace

from termvisor.actions.pane_snapshot import get_agent_interaction
from termvisor.agents.adapters.opencode import keyboard
from tests.unit.agents.adapters.opencode.screens import (
    PERMISSION_PANEL,
    WORKING_FOOTER,
    add_left_bar,
    build_composer_screen,
    build_panel_screen,
)


def test_keys_can_deny_a_dialog_without_colours():
    press = keyboard.find_answer_keys(build_panel_screen(*PERMISSION_PANEL), "deny")
    assert press is not None
    assert press.keys == ("Escape",)
    assert keyboard.find_answer_keys(build_composer_screen(), "deny") is None


@pytest.mark.parametrize(
    ("highlighted", "keys"),
    [
        (["Allow once"], ("Enter",)),
        (["Allow always"], ("Left", "Enter")),
        (["Reject"], ("Left", "Left", "Enter")),
        ([], None),
        (["Allow once", "Reject"], None),
        (["enter confirm"], None),
    ],
)
def test_keys_allow_if_exactly_one_option_is_highlighted(highlighted, keys):
    screen = build_panel_screen(*PERMISSION_PANEL)
    number = next(index for index, row in enumerate(screen.rows) if "Allow once" in row)
    shown = replace(screen, highlights=tuple((number, text) for text in highlighted))
    press = keyboard.find_answer_keys(shown, "allow")
    assert (press and press.keys) == keys
    elsewhere = replace(screen, highlights=tuple((number - 1, text) for text in highlighted))
    assert keyboard.find_answer_keys(elsewhere, "allow") is None


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
    assert get_agent_interaction("opencode").read_composer(build_composer_screen(*add_left_bar("go"))) == ""
    assert get_agent_interaction("opencode").read_composer(build_composer_screen(typed="Ask anything… ")) == ""
    assert get_agent_interaction("opencode").read_composer(build_composer_screen(typed="half a thought"))
    assert get_agent_interaction("opencode").read_composer(build_panel_screen(*PERMISSION_PANEL)) is None
