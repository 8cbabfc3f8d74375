"""The parts of opencode's screen."""

from termvisor.agents.adapters.opencode.screen_regions import panel_of, parts_of
from tests.unit.agents.adapters.opencode.screens import PERMISSION, barred, composed, panel
from tests.unit.agents.adapters.saying import screen


def test_the_composer_stands_on_its_edge():
    parts = parts_of(composed(*barred("go"), "     words", "     ▣  Build · Model · 8.3s", typed="half"))
    assert parts["composer"] == ["", "half", "", "Build · Model Provider"]
    assert parts["end"] == ["     ▣  Build · Model · 8.3s"]
    assert parts["below"] == ["/home/you/api 1.5K (2%) ctrl+p commands"]


def test_a_block_directly_before_the_end_is_what_broke_it_off():
    parts = parts_of(composed(*barred("go"), *barred("Incorrect API key"), "     ▣  Build · Model"))
    assert parts["broken"] == ["", "Incorrect API key", ""]
    assert parts_of(composed(*barred("go"), "     words", "     ▣  Build · Model"))["broken"] == []


def test_a_panel_stands_in_the_composers_place():
    assert parts_of(panel(*PERMISSION))["panel"][0] == "△ Permission required"
    assert panel_of(panel(*PERMISSION))[0] == "  ┃  △ Permission required"


def test_elsewhere_are_no_parts():
    assert parts_of(screen("$ ls")) == {}
    assert parts_of(screen("")) == {}
    assert panel_of(screen("")) == ()
