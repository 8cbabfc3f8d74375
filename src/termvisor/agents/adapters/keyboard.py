"""Contract for typing to an agent, implemented by the module `keyboard` of its adapter, and code that these share.

Every function of the contract is optional and pure: it gets a screen and returns the keys that perform the action
there, or None if that is not certain. Only the gate imports such a module; it verifies the effect of the keys.

An answer is never a bare Enter, because the preselected option varies. A KeyPress contains the rows of the
dialog it was made for; it must not be sent if the screen no longer ends with them.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

import msgspec
from msgspec import Struct

from termvisor.agents.adapters.adapter import ScreenReading
from termvisor.agents.adapters.screen_classifier import find_bottom_box, trim_rows
from termvisor.model.terminal.screen import Screen

Decision = Literal["allow", "deny"]
# Pause between the two keys that exit some agents, which accept both within a second but not at once.
EXIT_KEY_PAUSE_S = 0.4
# States in which an agent waits for a prompt, so exiting it loses nothing.
RESTING_STATES = ("idle", "completed", "error")
_POINTER = re.compile("[●❯›→▶▸➤>◉◆○◯]")
_NUMBERED_OPTION = re.compile(r"\s*(?P<pointer>[●❯›→] )?\s*(?P<number>\d{1,2})\. +(?P<label>\S.*?)\s*")


class KeyPress(Struct, frozen=True, kw_only=True):
    """Keys (as tmux names) to send only while the screen matches ``rule`` and shows ``rows``."""

    keys: tuple[str, ...]
    rule: str
    rows: tuple[str, ...] = ()
    """The non-blank rows of the dialog; empty if they contain a spinner."""
    pause_s: float = 0.0
    """Pause between two keys."""


class AgentKeymap(Protocol):
    """The functions of a module `keyboard`. It may also define the pattern ``PLACEHOLDER`` of an empty composer."""

    def format_hook_answer(self, decision: Decision, message: str = "") -> str:
        """Return the output with which the permission hook answers instead of the dialog."""

    def find_answer_keys(self, screen: Screen, decision: Decision) -> KeyPress | None:
        """Return the keys that allow (once) or deny the request in the dialog."""

    def find_option_keys(self, screen: Screen, label: str) -> KeyPress | None:
        """Return the keys that choose the option with exactly this label."""

    def find_reason_keys(self, screen: Screen) -> KeyPress | None:
        """Return the keys that leave the input for the reason of a refusal empty; None if it is not shown."""

    def find_interrupt_keys(self, screen: Screen) -> KeyPress | None:
        """Return the keys that interrupt a turn; None unless the screen shows that the agent is working."""

    def find_exit_keys(self, screen: Screen) -> KeyPress | None:
        """Return the keys that exit the agent; None unless it is idle and shows its composer."""

    def read_composer(self, screen: Screen) -> str | None:
        """Return the text in the composer, or its placeholder; None if there is no composer."""

    def read_queue(self, screen: Screen) -> str:
        """Return the prompts in the queue of a working agent; empty if it shows none. Only for agents with a queue."""


class DialogOption(Struct, frozen=True):
    """One option of a dialog."""

    label: str
    is_selected: bool


def remove_pointer(rows: Sequence[str]) -> tuple[str, ...]:
    """Return the rows without the pointer, so that they are the same whichever option is selected."""
    return tuple(_POINTER.sub(" ", row).rstrip() for row in rows)


def parse_numbered_options(rows: Sequence[str]) -> list[DialogOption]:
    """Return the numbered options of a dialog; empty if the numbers are not 1, 2, 3, …"""
    matches = [match for row in rows if (match := _NUMBERED_OPTION.fullmatch(row))]
    is_complete = [int(match["number"]) for match in matches] == list(range(1, len(matches) + 1))
    return [DialogOption(match["label"], bool(match["pointer"])) for match in matches] if is_complete else []


def find_keys_to_option(
    label: str, options: Sequence[DialogOption], arrows: tuple[str, str] = ("Up", "Down")
) -> tuple[str, ...] | None:
    """Return the keys that move from the selected option to this one, and Enter; None if either is not unique.

    ``arrows`` are the keys to the previous and to the next option.
    """
    selected = [index for index, option in enumerate(options) if option.is_selected]
    targets = [index for index, option in enumerate(options) if option.label == label] or [
        index for index, option in enumerate(options) if _is_same_label(label, option.label, index + 1)
    ]
    if len(selected) != 1 or len(targets) != 1:
        return None
    steps = targets[0] - selected[0]
    return (*((arrows[1],) * steps if steps > 0 else (arrows[0],) * -steps), "Enter")


def _is_same_label(given: str, label: str, number: int) -> bool:
    """Return True if a person may mean this option: its number, or its label with the number or in another case."""
    shown = (str(number), label, f"{number}. {label}")
    return " ".join(given.split()).casefold() in (" ".join(text.split()).casefold() for text in shown)


def read_boxed_dialog(screen: Screen) -> tuple[tuple[str, ...], list[DialogOption]]:
    """Return the rows and the numbered options of the box at the end of a screen; both are empty if there is none."""
    box = find_bottom_box(trim_rows(screen.rows))
    return tuple(row for row, _ in box), parse_numbered_options([inner for _, inner in box])


def build_option_press(
    reading: ScreenReading, rows: tuple[str, ...], options: Sequence[DialogOption], label: str
) -> KeyPress | None:
    """Return the keys that choose this option of a dialog; None if it is not offered."""
    keys = find_keys_to_option(label, options)
    return KeyPress(keys=keys, rule=reading.rule, rows=rows) if keys and rows else None


def build_answer_press(
    reading: ScreenReading,
    rows: tuple[str, ...],
    options: Sequence[DialogOption],
    allow_labels: Mapping[str, str],
    decision: Decision,
) -> KeyPress | None:
    """Return the keys that allow (once) or deny the request of a dialog; None if they are uncertain.

    ``allow_labels`` maps a rule name to the option that allows just this once.
    """
    if reading.state != "waiting_approval" or not rows:
        return None
    if decision == "deny":
        return KeyPress(keys=("Escape",), rule=reading.rule, rows=rows)
    return build_option_press(reading, rows, options, allow_labels.get(reading.rule_name, ""))


def build_exit_press(reading: ScreenReading, composer_text: str | None, keys: tuple[str, ...]) -> KeyPress | None:
    """Return the keys that exit a resting agent; None if it is working or shows no composer."""
    can_exit = reading.state in RESTING_STATES and composer_text is not None
    return KeyPress(keys=keys, rule=reading.rule, pause_s=EXIT_KEY_PAUSE_S) if can_exit else None


def format_permission_hook_answer(decision: Decision, message: str = "") -> str:
    """Return the output of the hook `PermissionRequest`, which both Claude Code and Codex have.

    Empty output would leave the answer to the dialog.
    """
    fields = {"behavior": decision} | ({"message": message} if decision == "deny" and message else {})
    answer = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": fields}}
    return msgspec.json.encode(answer).decode()
