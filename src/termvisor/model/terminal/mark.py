"""A Mark is a sign that a program put into its output for the terminal to act on."""

from typing import Literal

from msgspec import Struct

MarkKind = Literal[
    "prompt_start",  # OSC 133 A, 633 A
    "input_start",  # OSC 133 B, 633 B
    "command_start",  # OSC 133 C, 633 C
    "command_end",  # OSC 133 D, 633 D
    "command_line",  # OSC 133 E, 633 E
    "prompt_property",  # OSC 133 P, 633 P
    "cwd",  # OSC 7
    "user_var",  # OSC 1337 SetUserVar
    "title",  # OSC 0, 2
    "notification",  # OSC 9, 99, 777
    "progress",  # OSC 9;4
    "agent",  # OSC 7501
    "end_of_program",  # our own end marker of managed programs
    "bell",
    "alt_screen_on",
    "alt_screen_off",
    "paste_on",
    "paste_off",
    "sync_on",
    "sync_off",
    "reset",  # RIS, DECSTR: the program set the terminal back
]


class Mark(Struct, frozen=True, kw_only=True):
    """``offset`` is where the sequence ends in its epoch; ``text`` is the payload, ``params`` its key=value parts.

    ``row`` is told with the marks of prompts and commands only: where the first line begins that holds nothing from
    before the mark. That is the line the mark stands in while this is empty, else whatever begins after the mark.
    """

    kind: MarkKind
    offset: int
    row: int = 0
    text: str = ""
    exit_code: int | None = None
    column: int | None = None
    """Where a shell's input begins in its row; of `input_start` only."""
    params: dict[str, str] = {}
