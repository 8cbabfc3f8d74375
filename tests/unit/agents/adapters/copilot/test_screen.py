"""Regions and states of Copilot screens."""

import pytest

from termvisor.agents.adapters.copilot.screen import classify_screen, split_regions
from tests.unit.agents.adapters.adapter_inputs import build_box, build_screen
from tests.unit.agents.adapters.copilot.screens import (
    APPROVAL,
    FORM,
    IDLE_FOOTER,
    WORKING_FOOTER,
    build_composer_screen,
    build_dialog_screen,
)


def test_the_turn_is_returned_without_its_scroll_bar():
    parts = split_regions(build_composer_screen(" ❯ go", " ● one", " ❯ on", " ● two", "   more", typed="half"))
    assert [row.strip() for row in parts["turn"]] == ["● two", "more", "/home/you/api [⎇ main]"]
    assert parts["composer"] == ["❯ half"]
    assert parts["below"] == [" ".join(IDLE_FOOTER.split())]


def test_a_box_at_the_end_is_a_dialog_and_a_form_is_between_rules():
    assert split_regions(build_dialog_screen(*APPROVAL))["dialog"][-1] == APPROVAL[-1]
    assert split_regions(build_screen(FORM))["form"][0] == "Copilot needs information."


def test_other_screens_have_no_regions():
    assert split_regions(build_screen("$ ls")) == {}
    assert split_regions(build_screen("")) == {}
    assert split_regions(build_screen([FORM[0], "$ words", FORM[0], " below"])) == {}


TRUST = ("Confirm folder trust", "/home/you/api", "Do you trust the files in this folder?", *APPROVAL[3:])
LOGIN = " ✗ Authentication failed with provider (HTTP 401)."


@pytest.mark.parametrize(
    ("shown", "state", "rule"),
    [
        (build_composer_screen(" ● Tip: /app"), "idle", "at_rest"),
        (build_composer_screen(" ❯ go", " ● done", " ● Tip: /help", "   └ Show help"), "idle", "at_rest"),
        (build_composer_screen(typed="half a thought"), "idle", "at_rest"),
        (build_composer_screen(below=" ctrl+c again to exit       model"), "idle", "about_to_leave"),
        (build_composer_screen(" ❯ go", " ● words", below=WORKING_FOOTER), "running", "working"),
        (build_composer_screen(" ❯ go", below=" ◉ Working esc esc edit prompt    model"), "running", "working"),
        (build_composer_screen(" ❯ go", below=" ○ Working · 3 B esc again to interrupt"), "running", "working"),
        (
            build_composer_screen(" ❯ go", " ● Request failed due to an error. Retrying...", below=WORKING_FOOTER),
            "running",
            "retrying",
        ),
        (build_composer_screen(" ❯ go", below=" ◎ Compacting conversation esc esc interrupt"), "running", "compacting"),
        (build_composer_screen(" ❯ go", " ● words"), "completed", "answered"),
        (build_composer_screen(" ❯ go", " ● Operation cancelled by user"), "idle", "cancelled"),
        (build_composer_screen(" ❯ go", " ● Compaction completed"), "idle", "compacted"),
        (build_composer_screen(" ❯ go", LOGIN), "error", "login_refused"),
        (build_composer_screen(" ❯ go", " ✗ Failed to get response from the AI model"), "error", "request_failed"),
        (build_composer_screen(" ❯ go", " ✗ You have reached your usage limit"), "error", "usage_limit_reached"),
        (build_dialog_screen(*APPROVAL), "waiting_approval", "approval_asked"),
        (build_dialog_screen(*TRUST), "waiting_approval", "folder_not_trusted"),
        (build_dialog_screen("Select a model", "❯ 1. a", "  2. b", APPROVAL[-1]), "waiting_input", "choice_open"),
        (build_screen(FORM), "waiting_input", "question_asked"),
    ],
)
def test_a_screen_has_its_state_and_rule(shown, state, rule):
    result = classify_screen(shown)
    assert (result.state, result.rule_name) == (state, rule)


@pytest.mark.parametrize(
    "shown",
    [
        build_screen(""),
        build_screen("   Resume     copilot --resume=1\n$ "),
        build_screen([*build_box(*APPROVAL), "$ "]),
    ],
)
def test_a_screen_that_only_resembles_copilot_is_unknown(shown):
    assert classify_screen(shown).state == "unknown"


def test_a_dialog_that_the_agent_quotes_is_not_open():
    assert (
        classify_screen(build_composer_screen(" ❯ show me", " ● It looks so:", *build_box(*APPROVAL, width=50))).state
        == "completed"
    )


def test_a_failed_tool_is_not_an_error_of_the_agent():
    assert classify_screen(build_composer_screen(" ❯ go", " ✗ Shell make", "   quota exceeded")).state == "idle"


def test_an_error_of_an_earlier_turn_does_not_count():
    assert classify_screen(build_composer_screen(" ❯ go", LOGIN, " ❯ again", " ● fine")).state == "completed"
