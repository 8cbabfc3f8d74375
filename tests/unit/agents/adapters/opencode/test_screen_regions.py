"""Regions of opencode screens."""

from termvisor.agents.adapters.opencode.screen_regions import find_panel_rows, split_regions
from tests.unit.agents.adapters.adapter_inputs import build_screen
from tests.unit.agents.adapters.opencode.screens import (
    PERMISSION_PANEL,
    add_left_bar,
    build_composer_screen,
    build_panel_screen,
)


def test_the_composer_is_above_its_edge():
    parts = split_regions(
        build_composer_screen(*add_left_bar("go"), "     words", "     ▣  Build · Model · 8.3s", typed="half")
    )
    assert parts["composer"] == ["", "half", "", "Build · Model Provider"]
    assert parts["end"] == ["     ▣  Build · Model · 8.3s"]
    assert parts["below"] == ["/home/you/api 1.5K (2%) ctrl+p commands"]


def test_a_block_directly_before_the_end_is_what_broke_it_off():
    parts = split_regions(
        build_composer_screen(*add_left_bar("go"), *add_left_bar("Incorrect API key"), "     ▣  Build · Model")
    )
    assert parts["broken"] == ["", "Incorrect API key", ""]
    assert (
        split_regions(build_composer_screen(*add_left_bar("go"), "     words", "     ▣  Build · Model"))["broken"] == []
    )


def test_a_panel_replaces_the_composer():
    assert split_regions(build_panel_screen(*PERMISSION_PANEL))["panel"][0] == "△ Permission required"
    assert find_panel_rows(build_panel_screen(*PERMISSION_PANEL))[0] == "  ┃  △ Permission required"


def test_elsewhere_are_no_parts():
    assert split_regions(build_screen("$ ls")) == {}
    assert split_regions(build_screen("")) == {}
    assert find_panel_rows(build_screen("")) == ()
