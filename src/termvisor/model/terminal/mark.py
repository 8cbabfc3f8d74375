"""Marks: escape sequences in the output that tell the terminal about prompts, commands, titles and modes."""

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
    "reset",  # RIS, DECSTR: the program reset the terminal
]


class Mark(Struct, frozen=True, kw_only=True):
    """``offset`` is where the sequence ends in its epoch; ``text`` is the payload, ``params`` its key=value parts.

    ``row`` is set for marks of prompts and commands only: the offset of the first line without text from before the
    mark. That is the line of the mark if this is still empty, else the next line.
    """

    kind: MarkKind
    offset: int
    row: int = 0
    text: str = ""
    exit_code: int | None = None
    column: int | None = None
    """Column where a shell's input starts; of `input_start` only."""
    params: dict[str, str] = {}
