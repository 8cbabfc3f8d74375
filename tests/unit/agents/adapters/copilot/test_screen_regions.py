"""Regions of Copilot screens."""

from termvisor.agents.adapters.copilot.screen_regions import split_regions
from tests.unit.agents.adapters.adapter_inputs import build_screen
from tests.unit.agents.adapters.copilot.screens import (
    APPROVAL,
    FORM,
    IDLE_FOOTER,
    build_composer_screen,
    build_dialog_screen,
)


def test_the_turn_stands_without_its_scroll_bar():
    parts = split_regions(build_composer_screen(" ❯ go", " ● one", " ❯ on", " ● two", "   more", typed="half"))
    assert [row.strip() for row in parts["turn"]] == ["● two", "more", "/home/you/api [⎇ main]"]
    assert parts["composer"] == ["❯ half"]
    assert parts["below"] == [" ".join(IDLE_FOOTER.split())]


def test_a_box_at_the_end_is_a_dialog_and_a_form_is_between_rules():
    assert split_regions(build_dialog_screen(*APPROVAL))["dialog"][-1] == APPROVAL[-1]
    assert split_regions(build_screen(FORM))["form"][0] == "Copilot needs information."


def test_elsewhere_are_no_parts():
    assert split_regions(build_screen("$ ls")) == {}
    assert split_regions(build_screen("")) == {}
    assert split_regions(build_screen([FORM[0], "$ words", FORM[0], " below"])) == {}
