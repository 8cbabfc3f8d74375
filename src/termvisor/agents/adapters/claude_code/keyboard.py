"""Claude Code keyboard: the keys and hook output that answer, interrupt or exit Claude Code. Pure.

Never a bare Enter: the preselected option varies, and in two dialogs it is the denial. A dialog that has
just appeared ignores keys, so the gate checks whether it closed, and if not calls these functions again.
"""

import re
from collections.abc import Sequence

from termvisor.agents.adapters.claude_code.screen import classify_screen, parse_layout
from termvisor.agents.adapters.keyboard import (
    Decision,
    DialogOption,
    KeyPress,
    build_answer_press,
    build_exit_press,
    build_option_press,
    format_permission_hook_answer,
)
from termvisor.model.terminal.screen import Screen

# By rule name, the option that allows just this once. A plan has none, because accepting it changes the mode.
_ALLOW_LABELS = {"permission": "Yes", "trust_folder": "Yes, I trust this folder", "use_api_key": "Yes"}
_INTERRUPT_HINT = "esc to interrupt"
# The placeholder of the composer, and the hint below a prompt, while prompts are queued.
_QUEUE_PLACEHOLDER, _QUEUE_HINT = "Press up to edit queued messages", "to send now"
_OPTION_ROW = re.compile(r" {0,6}(❯ )? *(?:\d{1,2}\. )?(\S.*)")
format_hook_answer = format_permission_hook_answer


def find_answer_keys(screen: Screen, decision: Decision) -> KeyPress | None:
    rows = parse_layout(screen).dialog
    return build_answer_press(classify_screen(screen), rows, parse_pointed_options(rows), _ALLOW_LABELS, decision)


def find_option_keys(screen: Screen, label: str) -> KeyPress | None:
    """Return the keys that choose this option of a dialog; None unless it is offered exactly once."""
    reading, rows = classify_screen(screen), parse_layout(screen).dialog
    is_dialog = reading.state.startswith("waiting_")
    return build_option_press(reading, rows, parse_pointed_options(rows), label) if is_dialog else None


def find_interrupt_keys(screen: Screen) -> KeyPress | None:
    """Return the interrupt key while the agent is working.

    When the agent is idle, the same key goes back in the conversation; in a dialog it denies.
    """
    reading = classify_screen(screen)
    rows = (_INTERRUPT_HINT,) if any(_INTERRUPT_HINT in row for row in parse_layout(screen).footer) else ()
    return KeyPress(keys=("Escape",), rule=reading.rule, rows=rows) if reading.state == "running" else None


def find_exit_keys(screen: Screen) -> KeyPress | None:
    # Both keys must come within a second. The first alone clears the composer or interrupts the turn.
    return build_exit_press(classify_screen(screen), read_composer(screen), ("C-c", "C-c"))


def read_composer(screen: Screen) -> str | None:
    rows = parse_layout(screen).composer
    text = None if rows is None else "\n".join(rows).lstrip("❯>").strip()
    return "" if text == _QUEUE_PLACEHOLDER else text


def read_queue(screen: Screen) -> str:
    """Return the queued prompts: the blocks of the conversation that are prompts, while the screen shows a queue."""
    layout = parse_layout(screen)
    shown = "\n".join([*(layout.composer or ()), *(row for block in layout.blocks for row in block)])
    prompts = ["\n".join(block) for block in layout.blocks if block[0].startswith("❯")]
    return "\n".join(prompts) if _QUEUE_PLACEHOLDER in shown or _QUEUE_HINT in shown else ""


def parse_pointed_options(rows: Sequence[str]) -> list[DialogOption]:
    """Return the options of a dialog: the rows around the pointer whose text starts in the same column."""
    selected = next((index for index, row in enumerate(rows) if row.lstrip().startswith("❯ ")), None)
    if selected is None:
        return []
    column = rows[selected].index("❯") + 2
    first = selected
    while first > 0 and _is_option(rows[first - 1], column):
        first -= 1
    options = [row for row in rows[first:] if _is_option(row, column)]
    return [DialogOption(match[2], match[1] is not None) for row in options if (match := _OPTION_ROW.fullmatch(row))]


def _is_option(row: str, column: int) -> bool:
    prefix = row[:column].strip()
    return len(row) > column and prefix in ("", "❯") and not row[column].isspace()
