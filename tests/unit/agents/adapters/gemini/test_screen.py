"""Regions and states of Gemini screens."""

import pytest

from termvisor.agents.adapters.gemini.screen import classify_screen, split_regions
from tests.unit.agents.adapters.adapter_inputs import build_box, build_screen
from tests.unit.agents.adapters.gemini.screens import (
    APPROVAL,
    EMPTY,
    FAILED,
    LIMIT,
    build_composer_screen,
    build_dialog_screen,
)


def test_the_turn_begins_below_the_last_prompt():
    parts = split_regions(build_composer_screen(" > first", "✦ one", " > second", "✦ two", "  more", "ℹ Note."))
    assert parts["turn"] == ["✦ two", "  more", "ℹ Note."]
    assert parts["last"] == ["ℹ Note."]
    assert parts["composer"] == [EMPTY]


def test_the_work_line_is_not_part_of_the_turn():
    parts = split_regions(
        build_composer_screen(" > go", "✦ one", status=" ⠙ Thinking... (esc to cancel, 1s)     ? for shortcuts")
    )
    assert parts["work"] == [" ⠙ Thinking... (esc to cancel, 1s)     ? for shortcuts"]
    assert parts["last"] == ["✦ one"]


def test_a_box_at_the_end_is_a_dialog():
    assert split_regions(build_dialog_screen(*APPROVAL))["dialog"][0] == "? Shell  touch x"


def test_a_screen_without_a_composer_has_no_regions():
    assert split_regions(build_screen("$ ls\nfile")) == {}
    assert split_regions(build_screen("")) == {}


THINKING = " ⠙ Thinking... (esc to cancel, 1s)                    ? for shortcuts"
QUESTION = (
    "Answer Questions", "", "Which database", "", "● 1.  pg", "      large", "  2.  lite", "",
    "Enter to select · ↑/↓ to navigate · Esc to cancel",
)  # fmt: skip
TRUST = ("Do you trust the files in this folder?", "● 1. Trust folder (api)", "  2. Don't trust")


@pytest.mark.parametrize(
    ("shown", "state", "rule"),
    [
        (build_composer_screen("▝▜▄     Gemini CLI v0.61.0"), "idle", "at_rest"),
        (build_composer_screen(" > go", typed=" > half a thought"), "idle", "at_rest"),
        (build_composer_screen(" > go", "✦ words", status=THINKING), "running", "working"),
        (build_composer_screen(" > go", status=" ⠦ Executing Hooks: told, told"), "running", "working"),
        (build_composer_screen(" > go", "✦ words"), "completed", "answered"),
        (
            build_composer_screen(" > go", "✦ words", status="  Executing Hook: told       ? for shortcuts"),
            "completed",
            "answered",
        ),
        (build_composer_screen(" > go", "ℹ Request cancelled."), "idle", "cancelled"),
        (build_composer_screen(" > /compress", "⠇ Compressing chat history"), "running", "compressing"),
        (build_composer_screen(" > /compress", "✦ Chat history compressed from 9 to 3 tokens."), "idle", "compressed"),
        (build_composer_screen(" > go", FAILED), "error", "request_failed"),
        (
            build_composer_screen(" > go", "✕ [API Error: API key not valid.", "  UNAUTHENTICATED]", FAILED),
            "error",
            "login_refused",
        ),
        (
            build_composer_screen(" > go", "✕ [API Error: exhausted your daily quota]", FAILED),
            "error",
            "usage_limit_reached",
        ),
        (build_dialog_screen(*APPROVAL), "waiting_approval", "approval_asked"),
        (build_dialog_screen(*LIMIT), "waiting_input", "usage_limit_asked"),
        (build_dialog_screen(*TRUST), "waiting_approval", "folder_not_trusted"),
        (build_screen([f" {row}" for row in build_box(*TRUST)]), "waiting_approval", "folder_not_trusted"),
        (build_dialog_screen(*QUESTION), "waiting_input", "question_asked"),
        (build_dialog_screen("Select Theme", "● 1. Dark", "  2. Light"), "waiting_input", "choice_open"),
    ],
)
def test_a_screen_has_its_state_and_rule(shown, state, rule):
    result = classify_screen(shown)
    assert (result.state, result.rule_name) == (state, rule)


@pytest.mark.parametrize(
    "shown",
    [
        build_screen(""),
        build_screen("$ gemini --help\nUsage: gemini"),
        build_screen([*build_box(*APPROVAL), "$ "]),
        build_screen(build_box("Agent powering down. Goodbye!", "Session ID: 1")),
        build_screen(["Allow execution of [Shell]?", "● 1. Allow once", "  3. No, suggest changes (esc)"]),
    ],
)
def test_a_screen_that_only_resembles_gemini_is_unknown(shown):
    assert classify_screen(shown).state == "unknown"


def test_a_dialog_that_the_agent_quotes_is_not_open():
    assert classify_screen(build_composer_screen(" > show me", "✦ It looks so:", *build_box(*APPROVAL))).state == "idle"
    assert (
        classify_screen(build_composer_screen(" > show me", "✦ Allow execution of [Shell]?", "  1. Allow once")).state
        == "completed"
    )


def test_an_error_of_an_earlier_turn_does_not_count():
    assert (
        classify_screen(build_composer_screen(" > go", "✕ [API Error: quota]", FAILED, " > again", "✦ fine")).state
        == "completed"
    )


def test_screens_set_flags():
    assert classify_screen(build_dialog_screen(*LIMIT)).flags.usage_limited is True
    assert (
        classify_screen(build_composer_screen(" > go", "✕ [API Error: API key not valid.]", FAILED)).flags.auth_needed
        is True
    )
    assert classify_screen(build_composer_screen(" > /compress", "⠇ Compressing chat history")).flags.compacting is True
