"""Regions and states of opencode screens."""

import pytest
from msgspec.structs import replace

from termvisor.agents.adapters.opencode.screen import classify_screen, find_panel_rows, split_regions
from tests.unit.agents.adapters.adapter_inputs import build_screen
from tests.unit.agents.adapters.opencode.screens import (
    PERMISSION_PANEL,
    QUESTION_PANEL,
    WORKING_FOOTER,
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


def test_a_block_directly_before_the_end_is_the_error():
    parts = split_regions(
        build_composer_screen(*add_left_bar("go"), *add_left_bar("Incorrect API key"), "     ▣  Build · Model")
    )
    assert parts["broken"] == ["", "Incorrect API key", ""]
    assert (
        split_regions(build_composer_screen(*add_left_bar("go"), "     words", "     ▣  Build · Model"))["broken"] == []
    )


def test_a_side_bar_is_no_part_of_the_conversation():
    screen = build_composer_screen("     words", "     ▣  Build · Model · 8.3s")
    rows = tuple(f"{row[:118]:<120}   █    Context" for row in screen.rows)
    wide = replace(screen, rows=rows, width=168)
    assert split_regions(wide)["end"] == ["     ▣  Build · Model · 8.3s"]
    assert classify_screen(wide).rule_name == "answered"
    assert "Context" in split_regions(replace(wide, width=169))["end"][0], "text in its columns: there is none"


def test_a_panel_replaces_the_composer():
    assert split_regions(build_panel_screen(*PERMISSION_PANEL))["panel"][0] == "△ Permission required"
    assert find_panel_rows(build_panel_screen(*PERMISSION_PANEL))[0] == "  ┃  △ Permission required"


def test_other_screens_have_no_regions():
    assert split_regions(build_screen("$ ls")) == {}
    assert split_regions(build_screen("")) == {}
    assert find_panel_rows(build_screen("")) == ()


GO = add_left_bar("go")
LIMITED = "   ⬝⬝■■■■■■ The usage limit has been reached [retrying in 1s attempt #2]         esc interrupt"
BUSY = "   ⬝⬝⬝⬝⬝⬝⬝⬝ The server had an error. [retrying in 2s attempt #2] esc interrupt"
END = "     ▣  Build · Model"


@pytest.mark.parametrize(
    ("shown", "state", "rule"),
    [
        (build_composer_screen("  ┃  Ask anything…"), "idle", "at_rest"),
        (build_composer_screen(*GO, "     words", END, below=WORKING_FOOTER), "running", "working"),
        (build_composer_screen(*GO, END, below="   ⬝⬝⬝⬝■■■■  esc again to interrupt"), "running", "working"),
        (build_composer_screen(*GO, END, below=BUSY), "running", "retrying"),
        (build_composer_screen(*GO, END, below=LIMITED), "running", "usage_limit_retried"),
        (build_composer_screen(*GO, "     words", f"{END} · 8.3s"), "completed", "answered"),
        (build_composer_screen(*GO, "     words", f"{END} · 1m 5s              Context"), "completed", "answered"),
        (build_composer_screen(*GO, "     words", f"{END} · interrupted"), "idle", "interrupted"),
        (build_composer_screen(*GO, "     $ touch x", END), "idle", "at_rest"),
        (
            build_composer_screen(*GO, *add_left_bar("Incorrect API key provided: dummy."), END),
            "error",
            "login_refused",
        ),
        (build_composer_screen(*GO, *add_left_bar("You are out of quota"), END), "error", "usage_limit_reached"),
        (build_composer_screen(*GO, *add_left_bar("The server had an error"), END), "error", "request_failed"),
        (build_composer_screen("     ▣  Compaction · Model", below=WORKING_FOOTER), "running", "compacting"),
        (build_composer_screen("     summary", "     ▣  Compaction · Model · 4.1s"), "idle", "compacted"),
        (build_panel_screen(*PERMISSION_PANEL), "waiting_approval", "permission_asked"),
        (
            build_panel_screen("△ Always allow", "- touch *", "Confirm   Cancel      ⇆ select"),
            "waiting_approval",
            "always_asked",
        ),
        (build_panel_screen(*QUESTION_PANEL), "waiting_input", "question_asked"),
    ],
)
def test_a_screen_has_its_state_and_rule(shown, state, rule):
    result = classify_screen(shown)
    assert (result.state, result.rule_name) == (state, rule)


@pytest.mark.parametrize(
    "shown",
    [
        build_screen(""),
        build_screen("  Session   A title\n  Continue  opencode -s ses_000000000001\n$ "),
        build_screen(["△ Permission required", "Allow once   Allow always   Reject"]),
        build_panel_screen("some block", "at the end", "of a screen"),
    ],
)
def test_a_screen_that_only_resembles_opencode_is_unknown(shown):
    assert classify_screen(shown).state == "unknown"


def test_a_quoted_panel_is_not_open():
    assert (
        classify_screen(build_composer_screen(*add_left_bar(*PERMISSION_PANEL), "     words", f"{END} · 2s")).state
        == "completed"
    )


def test_a_panel_has_its_command_or_question():
    assert classify_screen(build_panel_screen(*PERMISSION_PANEL)).details["command"] == "touch x"
    assert classify_screen(build_panel_screen(*QUESTION_PANEL)).details["question"] == "Which database?"


def test_the_output_of_a_tool_is_not_an_error():
    assert (
        classify_screen(
            build_composer_screen(*GO, *add_left_bar("$ make", "error: quota"), "     The tool has finished.", END)
        ).state
        == "idle"
    )
