"""Regions and states of Codex screens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.agents.adapters.codex.screen import SCREEN_CLASSIFIER, classify_screen, parse_layout
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import Screen
from tests.recordings.scene import load_scenes

LONG_FOOT = ("", "› Ask Codex to do anything", "", "  gpt-6 default · ~/src", "  ? for shortcuts", "", "")


def test_an_idle_screen_has_a_conversation_and_a_composer():
    layout = parse_layout(("› hi", "", "• Hello.", "  Worked for 1s • 10:00", *LONG_FOOT))
    assert layout.conversation == ("› hi", "• Hello.", "  Worked for 1s • 10:00")
    assert layout.last_paragraph == "• Hello.\n  Worked for 1s • 10:00"
    assert (layout.composer, layout.work, layout.dialog) == ("Ask Codex to do anything", "", ())


def test_the_work_line_is_above_the_composer_with_its_details():
    layout = parse_layout(("› hi", "", "• Compacting context (2s • esc to interrupt)", "  └ Making room.", *LONG_FOOT))
    assert layout.work == "• Compacting context (2s • esc to interrupt)"
    assert layout.conversation == ("› hi",)


def test_a_quoted_work_line_is_conversation():
    layout = parse_layout(("• It printed:", "• Working (2s • esc to interrupt)", "• and then it ended.", *LONG_FOOT))
    assert layout.work == ""


def test_a_hint_at_the_right_edge_is_in_no_region():
    layout = parse_layout(("› hi", "", " " * 40 + "⚠ 5h limit: only <1% left", *LONG_FOOT))
    assert layout.conversation == ("› hi",)


def test_the_composer_text_may_have_several_rows():
    rows = ("• Hello.", "", "› first", "  second", "", "  gpt-6 default · /src")
    assert parse_layout(rows).composer == "first\nsecond"


def test_a_dialog_replaces_the_composer():
    rows = (
        "› hi",
        "• Running touch x",
        "",
        "  Would you like it?",
        "",
        "› 1. Yes (y)",
        "",
        "  enter select · esc back",
    )
    layout = parse_layout(rows)
    assert layout.composer is None
    assert layout.dialog == ("  Would you like it?", "› 1. Yes (y)", "  enter select · esc back")
    assert layout.conversation == ("› hi", "• Running touch x")


def test_a_wrapped_line_continues_at_the_left_edge():
    assert parse_layout(
        ("■ unexpected status 401, url: http://h/v1/", "responses", *LONG_FOOT)
    ).last_paragraph.startswith("■ unexpected")


def test_a_shell_has_no_composer_and_no_dialog():
    layout = parse_layout(("$ codex", "Disconnected from this task.", "$"))
    assert (layout.composer, layout.dialog, layout.last_row) == (None, (), "$")
    assert parse_layout(()).last_row == ""


FOOT = ("", "› Ask Codex to do anything", "", "  gpt-6 default · ~/src")
ASKED = (
    "• Running touch x", "", "  Would you like to run the following command?", "  $ touch x", "",
    "› 1. Yes, proceed (y)", "  3. No, and tell Codex what to do differently (esc)", "",
    "  Press enter to confirm or esc to cancel",
)  # fmt: skip
LIMIT = "■ You’ve hit your usage limit. Visit https://chatgpt.com/settings/usage or try again at 11:02 PM."
MODAL = (
    "", "  Approaching rate limits", "  Switch to gpt-6-luna for lower credit usage?", "",
    "› 1. Switch to gpt-6-luna", "  2. Keep current model", "", "  enter select · esc back",
)  # fmt: skip


def classify_rows(*rows: str):
    return classify_screen(Screen(pane=PaneId(1), rows=rows, width=100, height=40, at=1_794_773_000 * 10**9))


BACKGROUND = "  2 background terminals running · /ps to view · /stop to close"
HITS = {
    "approval_asked": ASKED,
    "hooks_need_review": ("  Hooks need review", "", "› 1. Review hooks", "", "  enter confirm · esc skip"),
    "folder_not_trusted": ("  Do you trust the contents of this directory?", "› 1. Yes", "  Press enter to continue"),
    "question_asked": (
        "  Question 1/1 (1 unanswered)", "  Which database?", "  › 1. A",
        "  tab to add notes | enter to submit answer | esc to interrupt",
    ),
    "server_settings_differ": ("  Background server has incompatible feature settings", "  1. Run", "› 3. Cancel"),
    "limit_dialog": (LIMIT, *MODAL),
    "menu_open": ("  Select Model and Effort", "", "› 1. GPT-6", "  2. GPT-5", "", "  enter select · esc back"),
    "device_code": (
        "  https://auth.openai.com/codex/device", "",
        "  2. Enter this one-time code after you are signed in (expires in 15 minutes)", "", "  ABCD-12345",
    ),
    "sign_in_asked": ("> 1. Sign in with ChatGPT", "     Usage included with Plus", "  3. Provide your own API key"),
    "compacting": ("• Compacting context (2s • esc to interrupt)", "  └ Making room to continue.", *FOOT),
    "retrying": ("◦ Reconnecting... 2/5 (1m 3s • esc to interrupt)", "  └ high demand", *FOOT),
    "working": ("› hi", "", "• Working (1h 2m 3s • esc to interrupt)", *FOOT),
    "background_terminal": ("• Hello.", "", "  Worked for <1s • 04:14", "", BACKGROUND, *FOOT),
    "interrupted": ("› hi", "■ Conversation interrupted - use /feedback if something went wrong", *FOOT),
    "usage_limit_reached": ("› hi", LIMIT, *FOOT),
    "not_signed_in": ("■ unexpected status 401 Unauthorized: no, url: http://h/v1/", "responses", *FOOT),
    "rate_limited": ("■ exceeded retry limit, last status: 429 Too Many Requests", *FOOT),
    "model_at_capacity": ("■ Selected model is at capacity. Please try a different model.", *FOOT),
    "high_demand": ("■ We’re currently experiencing high demand, which may cause errors.", *FOOT),
    "stream_cut": ("■ stream disconnected before completion: closed", *FOOT),
    "failed": ("■ Something that nobody saw before", *FOOT),
    "turn_ended": ("• Hello.", "", "  Worked for <1s • 04:14", *FOOT),
    "fresh_start": ("  >_ OpenAI Codex (v0.166.0)", "     ~/src", "", "    ⣿⣿", *FOOT),
}  # fmt: skip
NEAR = {
    "a dialog that is only quoted": (*ASKED[:4], "• That is what it asked.", "  Worked for 1s • 10:00", *FOOT),
    "a limit of an earlier turn": (LIMIT, "› go on", "• Hello.", "  Worked for 1s • 10:00", *FOOT),
    "an error in the text": ("• It says:", "  ■ stream disconnected", "  Worked for 1s • 10:00", *FOOT),
    "an interruption long ago": ("■ Conversation interrupted", "› go on", "• Ok.", "  Worked for 1s • 10:00", *FOOT),
}


@pytest.mark.parametrize("rule", SCREEN_CLASSIFIER.rules, ids=lambda rule: rule.id)
def test_a_rule_matches_its_screen(rule):
    found = classify_rows(*HITS[rule.id.removeprefix("codex.screen.")])
    assert (found.rule, found.state, found.confidence) == (rule.id, rule.state, rule.confidence)


@pytest.mark.parametrize("rows", NEAR.values(), ids=NEAR)
def test_a_near_miss_is_turn_ended(rows):
    assert classify_rows(*rows).rule_name == "turn_ended"


@pytest.mark.parametrize(
    "rows",
    [
        (),
        ("$ ",),
        ("Disconnected from this task. Any running work continues.", "  codex resume 01a1", "$"),
        ("$ cat log", "• Working (2s • esc to interrupt)", "$"),
        ("■ Conversation interrupted", "$"),
        ("› 1. Yes, proceed (y)",),
    ],
    ids=["empty", "shell", "left", "printed work", "printed interruption", "half a dialog"],
)
def test_a_screen_that_is_not_codex_is_unknown_and_never_idle(rows):
    assert (classify_rows(*rows).state, classify_rows(*rows).rule) == ("unknown", "")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (HITS["background_terminal"], ("running", 2)),
        ((*HITS["interrupted"][:2], BACKGROUND, *FOOT), ("running", 2)),
        ((*HITS["failed"][:1], BACKGROUND, *FOOT), ("error", 0)),
        (HITS["turn_ended"], ("completed", 0)),
        (("$ ",), ("unknown", None)),
    ],
    ids=["after an answer", "after an interrupt", "an error has priority", "none", "another screen"],
)
def test_background_commands_are_counted(rows, expected):
    assert (classify_rows(*rows).state, classify_rows(*rows).tasks) == expected


def test_the_dialog_of_an_untrusted_folder_is_recognized():
    dialog = ("  Folder access", "", "  Trust this folder? Codex can read, edit, and run files here.", "")
    found = classify_rows(
        *dialog, "› 1. Trust and continue", "  2. Back to Agent Command Center", "", "  enter continue · esc back"
    )
    assert (found.rule_name, found.details) == ("folder_not_trusted", {"question": "Trust this folder?"})


def test_a_dialog_has_its_question_and_command():
    assert classify_rows(*ASKED).details == {
        "question": "Would you like to run the following command?",
        "command": "touch x",
    }


def test_a_usage_limit_has_its_reset_time_with_and_without_a_dialog():
    for rows in ((LIMIT, *MODAL), (LIMIT, *FOOT)):
        flags = classify_rows(*rows).flags
        assert flags.usage_limited
        assert flags.resets_at is not None


def test_the_dialog_below_a_usage_limit_may_name_its_keys_in_other_words():
    older = (*MODAL[:-1], "  Press enter to confirm or esc to go back")
    assert classify_rows(LIMIT, *older).flags.usage_limited


def test_an_offer_to_switch_the_model_without_a_limit_is_a_menu():
    assert classify_rows("• Hello.", *MODAL).rule_name == "menu_open"


def test_a_wrapped_error_message_is_complete():
    assert classify_rows(*HITS["not_signed_in"]).details["message"].endswith("/v1/ responses")


@given(st.lists(st.text(alphabet="›•■ 12.()Worked for Ask·/~\n", max_size=30), max_size=12))
def test_any_rows_are_classified(rows):
    assert classify_rows(*rows).state in ("unknown", "idle", "running", "error", "completed", "waiting_input")


def test_no_recorded_screen_without_a_dialog_is_waiting_approval():
    wrong = [
        scene.name
        for scene in load_scenes("codex")
        if classify_screen(scene.screen).state == "waiting_approval"
        and scene.expected.get("look") != "waiting_approval"
    ]
    assert wrong == []
