"""Keys for an agent's screen: one by one, only in the expected dialog, never repeated blindly."""

from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from termvisor.actions.agent_commands import AgentKeyboard
from termvisor.actions.pane_snapshot import get_agent_interaction
from termvisor.agents.adapters.keyboard import KeyPress
from termvisor.errors import StaleSnapshot
from tests.unit.actions.scripted_screen import HastyClock, ScriptedPaneControl, build_snapshot
from tests.unit.agents.adapters.codex.test_screen import ASKED, FOOT, HITS

CHOICES = ("  Would you like to run the following command?", "  $ touch x", "")
KEYS = ("", "  Press enter to confirm or esc to cancel")


def build_dialog(pointed: int) -> tuple[str, ...]:
    labels = ("1. Yes, proceed (y)", "2. Yes, and always (p)", "3. No, and tell Codex what to do differently (esc)")
    rows = [f"› {label}" if number == pointed else f"  {label}" for number, label in enumerate(labels, 1)]
    return ("• Running touch x", "", *CHOICES, *rows, *KEYS)


DONE = ("• Ran touch x", *FOOT)


def build_keyboard(painted: ScriptedPaneControl) -> AgentKeyboard:
    interaction = get_agent_interaction("codex")
    assert interaction is not None
    return AgentKeyboard(painted, build_snapshot(painted.rows), interaction, HastyClock())


def find_choice_rows(shown: tuple[str, ...], choice: str) -> tuple[str, ...]:
    press = get_agent_interaction("codex").find_choice_keys(build_snapshot(shown).screen, choice)
    assert press is not None
    return press.rows


def close_dialog(painted: ScriptedPaneControl, key: str) -> None:
    painted.rows = list(DONE)


async def test_a_dialog_is_answered_with_its_key_and_verified():
    painted = ScriptedPaneControl(ASKED, close_dialog)
    outcome = await build_keyboard(painted).pick_choice("allow", find_choice_rows(ASKED, "allow"))
    assert (outcome.status, outcome.why, outcome.channel, painted.keys) == ("done", "dialog_left", "keys", ["y"])


async def test_a_choice_is_reached_step_by_step_and_entered_only_when_selected():
    def react_to_key(painted: ScriptedPaneControl, key: str) -> None:
        painted.rows = list(DONE if key == "Enter" else build_dialog(2))

    painted = ScriptedPaneControl(build_dialog(1), react_to_key)
    outcome = await build_keyboard(painted).pick_choice(
        "Yes, and always (p)", find_choice_rows(build_dialog(1), "Yes, and always (p)")
    )
    assert (outcome.status, painted.keys) == ("done", ["Down", "Enter"])


async def test_a_dropped_key_is_not_followed_by_enter():
    painted = ScriptedPaneControl(build_dialog(1), lambda painted, key: None)
    outcome = await build_keyboard(painted).pick_choice(
        "Yes, and always (p)", find_choice_rows(build_dialog(1), "Yes, and always (p)")
    )
    assert (outcome.status, outcome.why, painted.keys) == ("unknown", "still_shown", ["Down", "Down"])


async def test_a_dropped_deciding_key_is_pressed_once_more():
    def second(painted: ScriptedPaneControl, key: str) -> None:
        painted.rows = list(DONE) if len(painted.keys) == 2 else painted.rows

    painted = ScriptedPaneControl(ASKED, second)
    assert (await build_keyboard(painted).pick_choice("allow", find_choice_rows(ASKED, "allow"))).status == "done"
    assert painted.keys == ["y", "y"]
    unresponsive = ScriptedPaneControl(ASKED, lambda painted, key: None)
    assert (
        await build_keyboard(unresponsive).pick_choice("allow", find_choice_rows(ASKED, "allow"))
    ).status == "unknown"
    assert unresponsive.keys == ["y", "y"]


async def test_after_any_screen_change_the_deciding_key_is_not_repeated():
    def next_one(painted: ScriptedPaneControl, key: str) -> None:
        painted.rows = ["• Ran touch x", *ASKED]

    painted = ScriptedPaneControl(ASKED, next_one)
    outcome = await build_keyboard(painted).pick_choice("allow", find_choice_rows(ASKED, "allow"))
    assert (outcome.status, painted.keys) == ("unknown", ["y"])


async def test_another_dialog_gets_no_key():
    other = tuple(row.replace("touch x", "rm -rf build") for row in ASKED)
    painted = ScriptedPaneControl(other, close_dialog)
    with pytest.raises(StaleSnapshot) as raised:
        await build_keyboard(painted).pick_choice("allow", find_choice_rows(ASKED, "allow"))
    assert (raised.value.details["why"], painted.keys) == ("dialog_changed", [])


async def test_an_interrupt_is_verified():
    def stop(painted: ScriptedPaneControl, key: str) -> None:
        painted.rows = list(HITS["turn_ended"])

    painted = ScriptedPaneControl(HITS["working"], stop)
    assert (await build_keyboard(painted).interrupt()).why == "interrupted"
    assert painted.keys == ["Escape"]
    with pytest.raises(StaleSnapshot, match="no work"):
        await build_keyboard(painted).interrupt()
    unresponsive = ScriptedPaneControl(HITS["working"], lambda painted, key: None)
    assert (await build_keyboard(unresponsive).interrupt()).status == "unknown"
    assert unresponsive.keys == ["Escape"]


async def test_quitting_is_verified_by_the_process_exit():
    painted = ScriptedPaneControl(HITS["turn_ended"], lambda painted, key: None)
    assert (await build_keyboard(painted).quit_agent(lambda: bool(painted.keys))).why == "left"
    assert painted.keys == ["C-c"]
    assert (await build_keyboard(painted).quit_agent(lambda: False)).why == "still_there"
    painted.rows = list(HITS["working"])
    with pytest.raises(StaleSnapshot, match="is idle"):
        await build_keyboard(painted).quit_agent(lambda: True)


async def test_a_key_waits_until_the_dialog_is_drawn():
    clock, drawn_until, pressed_at = HastyClock(), 0.0, []

    class DrawingControl(ScriptedPaneControl):
        async def read_pane_state(self, pane):
            state = await super().read_pane_state(pane)
            is_drawing = clock.at < drawn_until
            return (
                replace(state, rows=("abcdefghijklmnopqrst"[round(clock.at * 20) % 20] * 9, *state.rows))
                if is_drawing
                else state
            )

    def close_in_time(painted: ScriptedPaneControl, key: str) -> None:
        pressed_at.append(clock.at)
        close_dialog(painted, key)

    painted = DrawingControl(ASKED, close_in_time)
    drawn_until = clock.at + 0.6
    keyboard = AgentKeyboard(painted, build_snapshot(painted.rows), get_agent_interaction("codex"), clock)
    assert (await keyboard.pick_choice("allow", find_choice_rows(ASKED, "allow"))).status == "done"
    assert 0.3 <= pressed_at[0] - drawn_until < 0.5


async def test_only_the_first_key_of_a_series_requires_the_rows_of_the_screen():
    guards = []

    class RecordingControl(ScriptedPaneControl):
        async def press(self, guard, keys):
            guards.append((keys, guard.rows))
            return await super().press(guard, keys)

    painted = RecordingControl(["ready"], lambda painted, key: None)
    interaction = SimpleNamespace(
        find_exit_keys=lambda _screen: KeyPress(keys=("C-c", "C-d"), rows=("ready",), rule="r")
    )
    keyboard = AgentKeyboard(painted, build_snapshot(painted.rows), interaction, HastyClock())
    outcome = await keyboard.quit_agent(lambda: len(painted.keys) > 1)
    assert (outcome.status, outcome.why) == ("done", "left")
    assert guards == [(["C-c"], ("ready",)), (["C-d"], ())]


OPTIONS = ("Allow once", "Allow always", "Reject")
REASON = (
    "  ┃  △ Reject permission",
    "  ┃",
    "  ┃  Tell Kilo what to do differently",
    "  ┃",
    "   enter confirm  esc cancel",
)


def build_inline_dialog(selected: str) -> tuple[str, ...]:
    """Build a dialog whose selected option has a background of its own; those of the others are equal."""
    labels = "\x1b[40m  ".join(f"\x1b[4{3 if one == selected else 4}m {one} " for one in OPTIONS)
    return (
        "  ┃  △ Permission required",
        "  ┃  $ touch x",
        f"  ┃\x1b[40m  {labels}\x1b[40m     ⇆ select  enter confirm",
    )


async def test_the_reason_that_an_agent_asks_for_after_a_refusal_is_left_empty():
    shown = iter([build_inline_dialog("Allow always"), build_inline_dialog("Reject"), REASON, ("  ┃  done",)])

    def react_to_key(painted: ScriptedPaneControl, key: str) -> None:
        painted.rows = list(next(shown))

    interaction = get_agent_interaction("kilo")
    painted = ScriptedPaneControl(build_inline_dialog("Allow once"), react_to_key)
    snapshot = build_snapshot(painted.rows)
    keyboard = AgentKeyboard(painted, snapshot, interaction, HastyClock())
    outcome = await keyboard.pick_choice("deny", interaction.find_choice_keys(snapshot.screen, "deny").rows)
    assert (outcome.status, painted.keys) == ("done", ["Right", "Right", "Enter", "Enter"])
