"""The choices of a dialog, and the keys that lead to one of them while exactly this dialog is shown.

No answer is ever a bare Enter: what is pointed at first differs. A Press carries the rows for which it was made, and
is void when the screen ends otherwise at that moment.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from termvisor.agents.adapters.adapter import ScreenReading

Decision = Literal["allow", "deny"]
EXIT_KEY_PAUSE_S = 0.4
"""Seconds between the two keys that end some agents: both within a second, and the first one must have been seen."""
_POINTER = re.compile("[●❯›→]")
_NUMBERED_OPTION = re.compile(r"\s*(?P<pointer>[●❯›→] )?\s*(?P<number>\d{1,2})\. +(?P<label>\S.*?)\s*")


class KeyPress(Struct, frozen=True, kw_only=True):
    """Keys by tmux' names, one after the other, while the screen still matches ``rule`` and shows ``rows``."""

    keys: tuple[str, ...]
    rule: str
    rows: tuple[str, ...] = ()
    """The dialog's rows, as they are shown, without blank ones; none where a spinner turns in them."""
    pause_s: float = 0.0
    """Seconds between two keys."""


RESTING_STATES = ("idle", "completed", "error")
"""States in which an agent waits for a prompt, and nothing is lost when it leaves."""


class DialogOption(Struct, frozen=True):
    label: str
    is_selected: bool


def remove_pointer(rows: Sequence[str]) -> tuple[str, ...]:
    """The rows of a dialog, whichever of its choices is pointed at."""
    return tuple(_POINTER.sub(" ", row).rstrip() for row in rows)


def parse_numbered_options(rows: Sequence[str]) -> list[DialogOption]:
    """The numbered ones of a dialog's rows; none where their numbers are not 1, 2, 3 …"""
    found = [match for row in rows if (match := _NUMBERED_OPTION.fullmatch(row))]
    is_whole = [int(match["number"]) for match in found] == list(range(1, len(found) + 1))
    return [DialogOption(match["label"], bool(match["pointer"])) for match in found] if is_whole else []


def find_keys_to_option(label: str, options: Sequence[DialogOption]) -> tuple[str, ...] | None:
    """From the choice that is pointed at to this very one, then Enter; None where either is not certain."""
    here = [number for number, one in enumerate(options) if one.is_selected]
    there = [number for number, one in enumerate(options) if one.label == label]
    if len(here) != 1 or len(there) != 1:
        return None
    steps = there[0] - here[0]
    return (*(("Down",) * steps if steps > 0 else ("Up",) * -steps), "Enter")


def build_option_press(reading: ScreenReading, box: Sequence[tuple[str, str]], label: str) -> KeyPress | None:
    """The keys that pick this very choice of a framed dialog."""
    rows = tuple(row for row, _ in box)
    keys = (
        find_keys_to_option(label, parse_numbered_options([inner for _, inner in box]))
        if reading.state.startswith("waiting_")
        else None
    )
    return KeyPress(keys=keys, rule=reading.rule, rows=rows) if keys and rows else None


def build_exit_press(reading: ScreenReading, composer_text: str | None, keys: tuple[str, ...]) -> KeyPress | None:
    """These keys end an agent that rests; with something in its composer the first one would only delete that."""
    may_leave = reading.state in RESTING_STATES and composer_text is not None
    return KeyPress(keys=keys, rule=reading.rule, pause_s=EXIT_KEY_PAUSE_S) if may_leave else None


def build_answer_press(
    reading: ScreenReading, box: Sequence[tuple[str, str]], allow_labels: Mapping[str, str], decision: Decision
) -> KeyPress | None:
    """The keys that allow, this once, or refuse what a framed dialog asks; None where that cannot be said surely.

    ``yes`` names, for each rule, the choice that allows this once and nothing for later.
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
