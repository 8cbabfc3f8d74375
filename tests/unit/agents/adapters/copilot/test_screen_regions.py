"""The parts of Copilot's screen."""

from termvisor.agents.adapters.copilot.screen_regions import parts_of
from tests.unit.agents.adapters.copilot.screens import APPROVAL, FORM, REST, asked, composed
from tests.unit.agents.adapters.saying import screen


def test_the_turn_stands_without_its_scroll_bar():
    parts = parts_of(composed(" ❯ go", " ● one", " ❯ on", " ● two", "   more", typed="half"))
    assert [row.strip() for row in parts["turn"]] == ["● two", "more", "/home/you/api [⎇ main]"]
    assert parts["composer"] == ["❯ half"]
    assert parts["below"] == [" ".join(REST.split())]


def test_a_box_at_the_end_is_a_dialog_and_a_form_stands_between_rules():
    assert parts_of(asked(*APPROVAL))["dialog"][-1] == APPROVAL[-1]
    assert parts_of(screen(FORM))["form"][0] == "Copilot needs information."


def test_elsewhere_are_no_parts():
    assert parts_of(screen("$ ls")) == {}
    assert parts_of(screen("")) == {}
    assert parts_of(screen([FORM[0], "$ words", FORM[0], " below"])) == {}
