"""Keys derived from the structure of a screen, for dialogs and composers whose wording is unknown. Pure.

Described agents use this for all their dialogs, coded adapters for those of versions that their rules do not know. A
choice is certain only if exactly one option allows (or refuses), and the pointer, the highlighted option or the
option's number is shown.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from termvisor.agents.adapters.adapter import ScreenReading
from termvisor.agents.adapters.keyboard import DialogOption, KeyPress, find_keys_to_option
from termvisor.agents.adapters.screen_classifier import trim_rows
from termvisor.agents.adapters.screen_structure import ScreenStructure, read_structure
from termvisor.model.terminal.screen import Screen

_ALLOW_WORDS = r"(?i)^\W{0,3}(?:yes|allow|approve|accept|proceed|run|apply|ok|once|confirm)\b"
_DENY_WORDS = r"(?i)^\W{0,3}(?:no|reject|deny|cancel|decline|don.t|skip|abort)\b"
# An option that allows more than this one request.
_LASTING = re.compile(r"(?i)\balways\b|don.t ask|do not ask|\bsession\b|\ball\b|\bauto|\btrust\b|remember|\bnever\b")
_PROMPT_SIGN = re.compile(r"\s*[❯›>!*»▌┃│]\s?")
_EDGE = re.compile(r"\s*[╭┌┏╔├]?[─━═▔▁]{6,}.*")
_ESCAPE_KEY = re.compile(r"(?i)\(esc\b")
_NUMBER = re.compile(r"^\d{1,2}[.)]\s+")
_MAX_ROWS_ABOVE = 10


def find_choice_keys(
    screen: Screen,
    reading: ScreenReading,
    choice: str,
    *,
    allow: str = "",
    deny: str = "",
    choose: Literal["arrows", "numbers"] = "arrows",
) -> KeyPress | None:
    """Return the keys that pick `allow`, `deny` or the option with this label; None if that is not certain.

    ``allow`` and ``deny`` are patterns of the options; without them, common words are used.
    """
    is_decision = choice in ("allow", "deny")
    if not (reading.state == "waiting_approval" if is_decision else reading.state.startswith("waiting_")):
        return None
    structure = read_structure(screen)
    label = choice
    if choice == "allow":
        label = _find_allow_label(structure.options, allow)
    elif choice == "deny":
        label = _find_only_label(structure.options, deny or _DENY_WORDS)
    shown = _find_dialog_rows(screen, structure)
    rows = tuple(shown.values())
    keys: tuple[str, ...] | None
    if choice == "deny" and _ESCAPE_KEY.search(label):
        keys = ("Escape",)  # choosing the option may open an input for a reason, its key never does
    elif choose == "numbers":
        keys = _find_number_key(label, structure.options, rows)
    else:
        selected = structure.selected if structure.selected >= 0 else _find_highlighted(screen, structure, shown)
        options = [DialogOption(one, index == selected) for index, one in enumerate(structure.options)]
        keys = find_keys_to_option(label, options, ("Left", "Right") if structure.is_inline else ("Up", "Down"))
    return KeyPress(keys=keys, rule=reading.rule, rows=rows) if keys and rows else None


def read_composer(screen: Screen) -> str | None:
    """Return the text in the composer, or its placeholder; None if no structure of a composer is shown."""
    rows = read_structure(screen).composer
    return None if rows is None else join_composer_rows(rows)


def join_composer_rows(rows: Sequence[str]) -> str:
    return "\n".join((_PROMPT_SIGN.sub("", row, count=1)).strip() for row in rows).strip()


def _find_allow_label(labels: Sequence[str], pattern: str) -> str:
    """Return the only option that allows just this once; empty if that is not certain."""
    if pattern:
        return _find_only_label(labels, pattern)
    return _find_only_label([label for label in labels if not _LASTING.search(label)], _ALLOW_WORDS)


def _find_only_label(labels: Sequence[str], pattern: str) -> str:
    matches = [label for label in labels if re.search(pattern, label)]
    return matches[0] if len(matches) == 1 else ""


def _find_number_key(label: str, labels: Sequence[str], rows: Sequence[str]) -> tuple[str, ...] | None:
    """Return the number of the option, if the dialog shows it beside exactly this option."""
    number = labels.index(label) + 1 if labels.count(label) == 1 else 0
    is_shown = any(re.search(rf"(?<!\d){number}[.)] +{re.escape(label)}", row) for row in rows)
    return (str(number),) if 0 < number < 10 and is_shown else None


def _find_highlighted(screen: Screen, structure: ScreenStructure, shown: Mapping[int, str]) -> int:
    """Return the index of the only option with a background of its own; -1 if there is not exactly one."""
    texts = [_NUMBER.sub("", text) for number, text in screen.highlights if number in shown]
    found = [index for index, label in enumerate(structure.options) if label in texts]
    return found[0] if len(found) == 1 else -1


def _find_dialog_rows(screen: Screen, structure: ScreenStructure) -> dict[int, str]:
    """Return the non-blank rows from the edge or the question above the options to the last option, by number."""
    rows = trim_rows(screen.rows)
    if not structure.options:
        return {}
    last = _find_last_row(rows, structure.options[-1])
    first = _find_last_row(rows[:last], structure.question) if structure.question else -1
    if last < 0 or first < 0:
        return {}
    above = range(first - 1, max(-1, first - 1 - _MAX_ROWS_ABOVE), -1)
    edge = next((index for index in above if _EDGE.fullmatch(rows[index])), first - 1)
    return {number: rows[number] for number in range(edge + 1, last + 1) if rows[number].strip()}


def _find_last_row(rows: Sequence[str], text: str) -> int:
    return max((index for index, row in enumerate(rows) if text in row), default=-1)
