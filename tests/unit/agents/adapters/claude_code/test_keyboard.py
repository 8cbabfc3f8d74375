"""Claude Code keyboard: hook output, dialog keys, and screens without safe keys."""

import json

import pytest

from termvisor.agents.adapters.claude_code import keyboard
from tests.recordings.scene import Scene, load_scenes
from tests.unit.agents.adapters.claude_code.claude_inputs import HORIZONTAL_RULE, build_composer_screen, build_screen

RECORDED = {scene.name: scene for scene in load_scenes("claude_code")}
RESTING = [
    scene for scene in RECORDED.values() if scene.expected.get("state") in ("idle", "running", "completed", "error")
]


def build_permission_screen(*options: str) -> object:
    return build_screen(
        HORIZONTAL_RULE, " Bash command", " Do you want to proceed?", *options, "", " Esc to cancel · Tab to amend"
    )


def test_the_hook_answer_has_the_format_of_claude() -> None:
    allowed, denied = (
        json.loads(keyboard.format_hook_answer("allow")),
        json.loads(keyboard.format_hook_answer("deny", "Not now.")),
    )
    assert allowed == {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}
    assert denied["hookSpecificOutput"]["decision"] == {"behavior": "deny", "message": "Not now."}


@pytest.mark.parametrize(
    ("name", "keys"),
    [("approval_asked", ("Enter",)), ("write_asked", ("Enter",)), ("trust_asked", ("Down", "Enter"))],
)
def test_a_recorded_dialog_is_allowed_by_the_keys_that_lead_to_yes(name: str, keys: tuple[str, ...]) -> None:
    shown = RECORDED[name].screen
    assert keyboard.find_answer_keys(shown, "allow").keys == keys
    assert keyboard.find_answer_keys(shown, "deny").keys == ("Escape",)


def test_a_key_press_has_the_rows_of_its_dialog() -> None:
    press = keyboard.find_answer_keys(RECORDED["approval_asked"].screen, "allow")
    assert " touch made" in press.rows
    assert press.rows[-1] == " Esc to cancel · Tab to amend"


def test_the_pointer_moves_from_another_option_to_yes() -> None:
    assert keyboard.find_answer_keys(build_permission_screen(" ❯ No", "   Yes"), "allow").keys == ("Down", "Enter")
    assert keyboard.find_answer_keys(build_permission_screen("   1. Yes", "   2. No", " ❯ 3. Maybe"), "allow").keys == (
        "Up",
        "Up",
        "Enter",
    )


def test_an_option_that_allows_permanently_is_never_chosen() -> None:
    assert (
        keyboard.find_answer_keys(build_permission_screen(" ❯ 1. Yes, and always allow it", "   2. No"), "allow")
        is None
    )
    plan = build_screen("▔" * 60, "   Exit plan mode?", "    ❯ 1. Yes, and switch to default", "      2. No")
    assert keyboard.find_answer_keys(plan, "allow") is None
    assert keyboard.find_answer_keys(plan, "deny").keys == ("Escape",)


def test_two_options_with_the_same_text_are_ambiguous() -> None:
    assert keyboard.find_answer_keys(build_permission_screen(" ❯ 1. Yes", "   2. Yes"), "allow") is None


def test_a_question_is_answered_by_the_named_option() -> None:
    shown = RECORDED["question"].screen
    assert keyboard.find_option_keys(shown, "Postgres").keys == ("Enter",)
    assert keyboard.find_option_keys(shown, "SQLite").keys == ("Down", "Enter")
    assert keyboard.find_option_keys(shown, "Oracle") is None
    assert keyboard.find_answer_keys(shown, "allow") is None


def test_a_permission_dialog_is_answered_by_a_label_that_it_shows() -> None:
    shown = build_permission_screen(" ❯ 1. Yes", "   2. Yes, and don't ask again", "   3. No")
    assert keyboard.find_option_keys(shown, "Yes, and don't ask again").keys == ("Down", "Enter")
    assert keyboard.find_option_keys(shown, "3").keys == ("Down", "Down", "Enter")
    assert keyboard.find_option_keys(shown, "Maybe") is None


@pytest.mark.parametrize("scene", RESTING, ids=lambda scene: scene.name)
def test_a_screen_without_a_dialog_has_no_answer_keys(scene: Scene) -> None:
    assert keyboard.find_answer_keys(scene.screen, "allow") is keyboard.find_answer_keys(scene.screen, "deny") is None


def test_an_open_menu_is_not_answered() -> None:
    assert keyboard.find_answer_keys(RECORDED["menu"].screen, "allow") is None


def test_the_composer_text_is_read() -> None:
    assert keyboard.read_composer(build_composer_screen("● words")) == ""
    assert keyboard.read_composer(build_composer_screen("● words", typed="half a"))
    assert keyboard.read_composer(build_permission_screen(" ❯ 1. Yes")) is None
