"""How to answer it: the words for its hook, the keys for its dialogs, and where none are safe."""

import json

import pytest

from termvisor.agents.adapters.claude_code import keyboard as channel
from tests.recordings.scene import Scene, scenes
from tests.unit.agents.adapters.claude_code.saying import RULE, composed, screen

RECORDED = {scene.name: scene for scene in scenes("claude_code")}
RESTING = [
    scene for scene in RECORDED.values() if scene.expected.get("state") in ("idle", "running", "completed", "error")
]


def permission(*options: str) -> object:
    return screen(RULE, " Bash command", " Do you want to proceed?", *options, "", " Esc to cancel · Tab to amend")


def test_the_hook_answers_in_its_own_words() -> None:
    allowed, denied = json.loads(channel.hook_answer("allow")), json.loads(channel.hook_answer("deny", "Not now."))
    assert allowed == {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}
    assert denied["hookSpecificOutput"]["decision"] == {"behavior": "deny", "message": "Not now."}


@pytest.mark.parametrize(
    ("name", "keys"),
    [("approval_asked", ("Enter",)), ("write_asked", ("Enter",)), ("trust_asked", ("Down", "Enter"))],
)
def test_a_recorded_dialog_is_allowed_by_the_way_to_its_yes(name: str, keys: tuple[str, ...]) -> None:
    shown = RECORDED[name].screen
    assert channel.answer(shown, "allow").keys == keys
    assert channel.answer(shown, "deny").keys == ("Escape",)


def test_the_keys_are_meant_for_the_very_rows_of_the_dialog() -> None:
    press = channel.answer(RECORDED["approval_asked"].screen, "allow")
    assert " touch made" in press.rows
    assert press.rows[-1] == " Esc to cancel · Tab to amend"


def test_a_refusal_that_is_pointed_at_first_is_stepped_over() -> None:
    assert channel.answer(permission(" ❯ No", "   Yes"), "allow").keys == ("Down", "Enter")
    assert channel.answer(permission("   1. Yes", "   2. No", " ❯ 3. Maybe"), "allow").keys == ("Up", "Up", "Enter")


def test_nothing_is_allowed_for_longer_than_this_once() -> None:
    assert channel.answer(permission(" ❯ 1. Yes, and always allow it", "   2. No"), "allow") is None
    plan = screen("▔" * 60, "   Exit plan mode?", "    ❯ 1. Yes, and switch to default", "      2. No")
    assert channel.answer(plan, "allow") is None
    assert channel.answer(plan, "deny").keys == ("Escape",)


def test_two_options_of_the_same_name_are_not_chosen_between() -> None:
    assert channel.answer(permission(" ❯ 1. Yes", "   2. Yes"), "allow") is None


def test_a_question_is_answered_by_the_option_that_was_meant() -> None:
    shown = RECORDED["question"].screen
    assert channel.choose(shown, "Postgres").keys == ("Enter",)
    assert channel.choose(shown, "SQLite").keys == ("Down", "Enter")
    assert channel.choose(shown, "Oracle") is None
    assert channel.answer(shown, "allow") is None


@pytest.mark.parametrize("scene", RESTING, ids=lambda scene: scene.name)
def test_without_a_dialog_there_is_nothing_to_press(scene: Scene) -> None:
    assert channel.answer(scene.screen, "allow") is channel.answer(scene.screen, "deny") is None


def test_an_open_menu_is_not_answered() -> None:
    assert channel.answer(RECORDED["menu"].screen, "allow") is None


def test_whether_somebody_is_writing_is_seen() -> None:
    assert channel.is_composer_empty(composed("● words")) is True
    assert channel.is_composer_empty(composed("● words", typed="half a")) is False
    assert channel.is_composer_empty(permission(" ❯ 1. Yes")) is None
