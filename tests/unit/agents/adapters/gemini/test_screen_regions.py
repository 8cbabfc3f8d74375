"""The parts of Gemini's screen."""

from termvisor.agents.adapters.gemini.screen_regions import parts_of
from tests.unit.agents.adapters.gemini.screens import APPROVAL, EMPTY, asked, composed
from tests.unit.agents.adapters.saying import screen


def test_the_turn_begins_below_the_last_prompt():
    parts = parts_of(composed(" > first", "✦ one", " > second", "✦ two", "  more", "ℹ Note."))
    assert parts["turn"] == ["✦ two", "  more", "ℹ Note."]
    assert parts["last"] == ["ℹ Note."]
    assert parts["composer"] == [EMPTY]


def test_the_line_that_shows_work_belongs_to_no_turn():
    parts = parts_of(composed(" > go", "✦ one", status=" ⠙ Thinking... (esc to cancel, 1s)     ? for shortcuts"))
    assert parts["work"] == [" ⠙ Thinking... (esc to cancel, 1s)     ? for shortcuts"]
    assert parts["last"] == ["✦ one"]


def test_a_box_at_the_end_is_a_dialog():
    assert parts_of(asked(*APPROVAL))["dialog"][0] == "? Shell  touch x"


def test_without_a_composer_there_are_no_parts():
    assert parts_of(screen("$ ls\nfile")) == {}
    assert parts_of(screen("")) == {}
