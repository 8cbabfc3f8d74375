"""Keys for a dialog: pressed one by one, only on that very dialog, and never blindly again."""

import pytest

from termvisor.actions.agent_keys import AgentKeyboard
from termvisor.actions.pane_agent import get_agent_interaction
from termvisor.errors import StaleSnapshot
from tests.unit.actions.scripted_screen import HastyClock, ScriptedPaneControl, build_snapshot
from tests.unit.agents.adapters.codex.test_screen_rules import ASKED, FOOT, HITS

CHOICES = ("  Would you like to run the following command?", "  $ touch x", "")
KEYS = ("", "  Press enter to confirm or esc to cancel")


def dialog(pointed: int) -> tuple[str, ...]:
    labels = ("1. Yes, proceed (y)", "2. Yes, and always (p)", "3. No, and tell Codex what to do differently (esc)")
    rows = [f"› {label}" if number == pointed else f"  {label}" for number, label in enumerate(labels, 1)]
    return ("• Running touch x", "", *CHOICES, *rows, *KEYS)


DONE = ("• Ran touch x", *FOOT)


def hand(painted: ScriptedPaneControl) -> AgentKeyboard:
    voice = get_agent_interaction("codex")
    assert voice is not None
    return AgentKeyboard(painted, build_snapshot(painted.rows), voice, HastyClock())


def rows_of(shown: tuple[str, ...], choice: str) -> tuple[str, ...]:
    press = get_agent_interaction("codex").find_choice_keys(build_snapshot(shown).screen, choice)
    assert press is not None
    return press.rows


def closing(painted: ScriptedPaneControl, key: str) -> None:
    painted.rows = list(DONE)


async def test_a_dialog_is_answered_with_its_own_key_and_seen_to_go():
    painted = ScriptedPaneControl(ASKED, closing)
    outcome = await hand(painted).pick_choice("allow", rows_of(ASKED, "allow"))
    assert (outcome.status, outcome.why, outcome.channel, painted.keys) == ("done", "dialog_left", "keys", ["y"])


async def test_a_choice_is_gone_to_step_by_step_and_entered_only_where_it_is_pointed_at():
    def heard(painted: ScriptedPaneControl, key: str) -> None:
        painted.rows = list(DONE if key == "Enter" else dialog(2))

    painted = ScriptedPaneControl(dialog(1), heard)
    outcome = await hand(painted).pick_choice("Yes, and always (p)", rows_of(dialog(1), "Yes, and always (p)"))
    assert (outcome.status, painted.keys) == ("done", ["Down", "Enter"])


async def test_a_step_that_is_swallowed_is_never_followed_by_enter():
    painted = ScriptedPaneControl(dialog(1), lambda painted, key: None)
    outcome = await hand(painted).pick_choice("Yes, and always (p)", rows_of(dialog(1), "Yes, and always (p)"))
    assert (outcome.status, outcome.why, painted.keys) == ("unknown", "still_shown", ["Down", "Down"])


async def test_a_key_that_nobody_heard_is_pressed_once_more_and_that_is_all():
    def second(painted: ScriptedPaneControl, key: str) -> None:
        painted.rows = list(DONE) if len(painted.keys) == 2 else painted.rows

    painted = ScriptedPaneControl(ASKED, second)
    assert (await hand(painted).pick_choice("allow", rows_of(ASKED, "allow"))).status == "done"
    assert painted.keys == ["y", "y"]
    deaf = ScriptedPaneControl(ASKED, lambda painted, key: None)
    assert (await hand(deaf).pick_choice("allow", rows_of(ASKED, "allow"))).status == "unknown"
    assert deaf.keys == ["y", "y"]


async def test_where_anything_moved_the_same_dialog_may_be_another_and_is_left_alone():
    def next_one(painted: ScriptedPaneControl, key: str) -> None:
        painted.rows = ["• Ran touch x", *ASKED]

    painted = ScriptedPaneControl(ASKED, next_one)
    outcome = await hand(painted).pick_choice("allow", rows_of(ASKED, "allow"))
    assert (outcome.status, painted.keys) == ("unknown", ["y"])


async def test_another_dialog_than_the_one_that_was_meant_gets_no_key():
    other = tuple(row.replace("touch x", "rm -rf build") for row in ASKED)
    painted = ScriptedPaneControl(other, closing)
    with pytest.raises(StaleSnapshot) as raised:
        await hand(painted).pick_choice("allow", rows_of(ASKED, "allow"))
    assert (raised.value.details["why"], painted.keys) == ("dialog_changed", [])


async def test_work_is_interrupted_and_seen_to_stop():
    def stop(painted: ScriptedPaneControl, key: str) -> None:
        painted.rows = list(HITS["turn_ended"])

    painted = ScriptedPaneControl(HITS["working"], stop)
    assert (await hand(painted).interrupt()).why == "interrupted"
    assert painted.keys == ["Escape"]
    with pytest.raises(StaleSnapshot, match="no work"):
        await hand(painted).interrupt()
    deaf = ScriptedPaneControl(HITS["working"], lambda painted, key: None)
    assert (await hand(deaf).interrupt()).status == "unknown"
    assert deaf.keys == ["Escape"]


async def test_it_has_left_when_its_process_is_gone():
    painted = ScriptedPaneControl(HITS["turn_ended"], lambda painted, key: None)
    assert (await hand(painted).quit_agent(lambda: bool(painted.keys))).why == "left"
    assert painted.keys == ["C-c"]
    assert (await hand(painted).quit_agent(lambda: False)).why == "still_there"
    painted.rows = list(HITS["working"])
    with pytest.raises(StaleSnapshot, match="rests"):
        await hand(painted).quit_agent(lambda: True)
