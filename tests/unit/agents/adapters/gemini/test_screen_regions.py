"""Regions of Gemini screens."""

from termvisor.agents.adapters.gemini.screen_regions import split_regions
from tests.unit.agents.adapters.adapter_inputs import build_screen
from tests.unit.agents.adapters.gemini.screens import APPROVAL, EMPTY, build_composer_screen, build_dialog_screen


def test_the_turn_begins_below_the_last_prompt():
    parts = split_regions(build_composer_screen(" > first", "✦ one", " > second", "✦ two", "  more", "ℹ Note."))
    assert parts["turn"] == ["✦ two", "  more", "ℹ Note."]
    assert parts["last"] == ["ℹ Note."]
    assert parts["composer"] == [EMPTY]


def test_the_line_that_shows_work_belongs_to_no_turn():
    parts = split_regions(
        build_composer_screen(" > go", "✦ one", status=" ⠙ Thinking... (esc to cancel, 1s)     ? for shortcuts")
    )
    assert parts["work"] == [" ⠙ Thinking... (esc to cancel, 1s)     ? for shortcuts"]
    assert parts["last"] == ["✦ one"]


def test_a_box_at_the_end_is_a_dialog():
    assert split_regions(build_dialog_screen(*APPROVAL))["dialog"][0] == "? Shell  touch x"


def test_without_a_composer_there_are_no_parts():
    assert split_regions(build_screen("$ ls\nfile")) == {}
    assert split_regions(build_screen("")) == {}
