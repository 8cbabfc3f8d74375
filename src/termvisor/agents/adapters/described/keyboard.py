"""Keyboard of described agents: keys derived from the structure of the screen and the description. Pure."""

import re

from termvisor.agents.adapters import structure_keyboard
from termvisor.agents.adapters.adapter import ScreenReading
from termvisor.agents.adapters.agent_description import PromptDescription
from termvisor.agents.adapters.described.adapter import DescribedAdapter, get_cursor_text, split_described_regions
from termvisor.agents.adapters.keyboard import Decision, KeyPress, build_exit_press
from termvisor.agents.adapters.screen_composer import find_ruled_span
from termvisor.agents.adapters.screen_rows import trim_screen_rows
from termvisor.agents.adapters.screen_structure import read_structure
from termvisor.model.terminal.screen import Screen


def build_keyboard(adapter: DescribedAdapter) -> "DescribedKeyboard":
    """Return the keyboard of one of the agents that share this module."""
    return DescribedKeyboard(adapter)


class DescribedKeyboard:
    """Implementation of `AgentKeymap` for one described agent."""

    def __init__(self, adapter: DescribedAdapter):
        self._adapter, self._description = adapter, adapter.description

    def find_answer_keys(self, screen: Screen, decision: Decision) -> KeyPress | None:
        reading = self._adapter.classify_screen(screen)
        if reading.state != "waiting_approval":
            return None
        for prompt in self._description.prompt:
            if (press := _find_prompt_press(screen, prompt, decision, reading)) is not None:
                return press
        return self._find_choice_keys(screen, decision)

    def find_option_keys(self, screen: Screen, label: str) -> KeyPress | None:
        return self._find_choice_keys(screen, label)

    def find_reason_keys(self, screen: Screen) -> KeyPress | None:
        pattern = self._description.dialog.reason
        foot = "\n".join(split_described_regions(screen)["foot"])
        match = re.search(pattern, foot, re.MULTILINE) if pattern else None
        if match is None:
            return None
        return KeyPress(keys=("Enter",), rule="", rows=tuple(row for row in match[0].split("\n") if row.strip()))

    def find_interrupt_keys(self, screen: Screen) -> KeyPress | None:
        reading, keys = self._adapter.classify_screen(screen), self._description.keys.interrupt
        return KeyPress(keys=keys, rule=reading.rule) if keys and reading.state == "running" else None

    def find_exit_keys(self, screen: Screen) -> KeyPress | None:
        keys = self._description.keys.exit
        return (
            build_exit_press(self._adapter.classify_screen(screen), self.read_composer(screen), keys) if keys else None
        )

    def read_composer(self, screen: Screen) -> str | None:
        composer = self._description.composer
        rows = read_structure(screen).composer
        if rows is None and composer.ruled and (span := find_ruled_span(screen)) is not None:
            rows = tuple(trim_screen_rows(screen)[slice(*span)])
        if rows is None:
            match = re.match(composer.prompt, get_cursor_text(screen)) if composer.prompt else None
            return get_cursor_text(screen)[match.end() :].strip() if match else None
        text = structure_keyboard.join_composer_rows(rows)
        if composer.status and re.search(composer.status, text.rpartition("\n")[2]):
            text = text.rpartition("\n")[0].strip()
        return "" if any(re.match(one, text) for one in composer.placeholders) else text

    def _find_choice_keys(self, screen: Screen, choice: str) -> KeyPress | None:
        reading, dialog = self._adapter.classify_screen(screen), self._description.dialog
        return structure_keyboard.find_choice_keys(
            screen, reading, choice, allow=dialog.allow, deny=dialog.deny, choose=dialog.choose
        )


def _find_prompt_press(
    screen: Screen, prompt: PromptDescription, decision: Decision, reading: ScreenReading
) -> KeyPress | None:
    """Return the letter and Enter, or Enter alone once the letter is shown; the letter alone if it needs no Enter."""
    text = "\n".join(split_described_regions(screen).get(prompt.part, ()))
    match = re.search(prompt.question, text, re.MULTILINE)
    if match is None:
        return None
    letter, typed = prompt.allow if decision == "allow" else prompt.deny, text[match.end() :].strip()
    keys: tuple[str, ...] | None = (letter,)
    if prompt.enter:
        keys = {"": (letter, "Enter"), letter: ("Enter",)}.get(typed)
    rows = match[0].strip("\n").split("\n")
    if prompt.part == "cursor":
        # What is asked about, such as a command, is in the row above.
        rows = [row for row in screen.rows[max(0, screen.cursor_y - 1) : screen.cursor_y] if row.strip()] + rows
    return KeyPress(keys=keys, rule=reading.rule, rows=tuple(rows)) if keys else None
