"""The state that a shell recorded in its file: evidence about a pane whose last marks were not captured."""

from typing import Literal

from msgspec import Struct


class RecordedShellState(Struct, frozen=True, kw_only=True):
    """The last state of a running shell, recorded at time ``at`` and checked against its process.

    Where its input begins is known in one of three ways: the prompt's characters, the column, or the cursor while
    nothing was typed.
    """

    kind: Literal["prompt", "command"]
    shell: str
    """The shell's process id, which its marks carry as ``aid``."""
    at: int
    last_exit: int | None = None
    cwd: str | None = None
    prompt_chars: int | None = None
    input_column: int | None = None
    is_input_empty: bool = False
