"""Find the keys that select an option of a dialog, valid only while exactly this dialog is shown.

An answer is never a bare Enter, because the option that is selected first differs. A KeyPress contains the rows it was
made for; it must not be sent if the screen no longer ends with them.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from termvisor.agents.adapters.adapter import ScreenReading

Decision = Literal["allow", "deny"]
EXIT_KEY_PAUSE_S = 0.4
"""Pause between the two keys that exit some agents: they accept both within a second, but not at once."""
_POINTER = re.compile("[●❯›→]")
_NUMBERED_OPTION = re.compile(r"\s*(?P<pointer>[●❯›→] )?\s*(?P<number>\d{1,2})\. +(?P<label>\S.*?)\s*")


class KeyPress(Struct, frozen=True, kw_only=True):
    """Keys by their tmux names, to be sent only while the screen matches ``rule`` and shows ``rows``."""

    keys: tuple[str, ...]
    rule: str
    rows: tuple[str, ...] = ()
    """The rows of the dialog without blank ones; empty if they contain a spinner."""
    pause_s: float = 0.0
    """Pause between two keys."""


RESTING_STATES = ("idle", "completed", "error")
"""States in which an agent waits for a prompt, so exiting it loses nothing."""


class DialogOption(Struct, frozen=True):
    """One option of a dialog."""

    label: str
    is_selected: bool


def remove_pointer(rows: Sequence[str]) -> tuple[str, ...]:
    """Return the rows without the pointer, so that they are equal whichever option is selected."""
    return tuple(_POINTER.sub(" ", row).rstrip() for row in rows)


def parse_numbered_options(rows: Sequence[str]) -> list[DialogOption]:
    """Return the numbered options of a dialog; empty if the numbers are not 1, 2, 3, …"""
    matches = [match for row in rows if (match := _NUMBERED_OPTION.fullmatch(row))]
    is_complete = [int(match["number"]) for match in matches] == list(range(1, len(matches) + 1))
    return [DialogOption(match["label"], bool(match["pointer"])) for match in matches] if is_complete else []


def find_keys_to_option(label: str, options: Sequence[DialogOption]) -> tuple[str, ...] | None:
    """Return the keys from the selected option to this one, then Enter; None if either is not unique."""
    selected = [index for index, option in enumerate(options) if option.is_selected]
    targets = [index for index, option in enumerate(options) if option.label == label]
    if len(selected) != 1 or len(targets) != 1:
        return None
    steps = targets[0] - selected[0]
    return (*(("Down",) * steps if steps > 0 else ("Up",) * -steps), "Enter")


def build_option_press(reading: ScreenReading, box: Sequence[tuple[str, str]], label: str) -> KeyPress | None:
    """Return the keys that choose this option of a boxed dialog; None if it is not offered."""
    rows = tuple(row for row, _ in box)
    keys = (
        find_keys_to_option(label, parse_numbered_options([inner for _, inner in box]))
        if reading.state.startswith("waiting_")
        else None
    )
    return KeyPress(keys=keys, rule=reading.rule, rows=rows) if keys and rows else None


def build_exit_press(reading: ScreenReading, composer_text: str | None, keys: tuple[str, ...]) -> KeyPress | None:
    """Return the keys that exit a resting agent; None if it is working or shows no composer."""
    can_exit = reading.state in RESTING_STATES and composer_text is not None
    return KeyPress(keys=keys, rule=reading.rule, pause_s=EXIT_KEY_PAUSE_S) if can_exit else None


def build_answer_press(
    reading: ScreenReading, box: Sequence[tuple[str, str]], allow_labels: Mapping[str, str], decision: Decision
) -> KeyPress | None:
    """Return the keys that allow once, or deny, the request of a boxed dialog; None if they are not certain.

    ``allow_labels`` has, by rule name, the option that allows this once and nothing later.
    """
    rows = tuple(row for row, _ in box)
    if reading.state != "waiting_approval" or not rows:
        return None
    if decision == "deny":
        return KeyPress(keys=("Escape",), rule=reading.rule, rows=rows)
    keys = find_keys_to_option(
        allow_labels.get(reading.rule_name, ""), parse_numbered_options([inner for _, inner in box])
    )
    return KeyPress(keys=keys, rule=reading.rule, rows=rows) if keys else None
