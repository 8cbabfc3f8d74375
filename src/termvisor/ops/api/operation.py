"""An Op is something the product can do: declared once, shown by every face.

The declaration is the reference: name, Input, Output, summary, doc and examples become the command line, robot JSON,
JSON Schema and docs. An op sees the product through `World` only and never writes to a terminal itself.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Literal

from msgspec import Struct

from termvisor.ops.render.text import Look

Effect = Literal["read", "change", "local"]
"""What calling it does: looks, changes something, or works in the caller's own process without a daemon."""


class Example(Struct, frozen=True):
    """``line`` is what stands after `visor`; ``does`` says what comes of it."""

    line: str
    does: str


def _always_fine(_output: Any) -> int:
    return 0


def _is_never(_wanted: Any) -> bool:
    return False


class Op(Struct, frozen=True, kw_only=True):
    """One operation. ``run`` gives an Output, or many of them where ``is_stream``."""

    name: str
    summary: str
    doc: str
    Input: type[Struct]
    Output: type[Struct]
    run: Callable[[Any, Any], Awaitable[Any] | AsyncIterator[Any]]
    """From a World, or the `ActingWorld` of an op that acts, and an Input."""
    plain: Callable[[Any, Look], str | bytes]
    """What a person reads. Bytes are written as they are."""
    effect: Effect = "read"
    aliases: tuple[str, ...] = ()
    robot: str | None = None
    examples: tuple[Example, ...] = ()
    is_stream: bool = False
    is_live: bool = False
    """A stream whose every item must reach the reader at once."""
    follow: Callable[[Any, Any], AsyncIterator[Any]] | None = None
    """What an Input with its ``follow`` set asks for in place of ``run``: Outputs as they come."""
    wish: Callable[[Any, Any], Awaitable[Any]] | None = None
    """Of an op that acts: the `Wish` that an Input stands for. `policy explain` asks for it."""
    makes_file: Callable[[Any], bool] = _is_never
    """Whether this Input has the op itself make the file that its ``output`` names."""
    takes_text: bool = False
    """Its Input's ``text`` may also come out of a file or stdin of the caller's, or as a person edited it."""
    local_with: str = ""
    """The option that makes a call local: with it, it works in the caller's own process without a daemon."""
    works_alone: bool = False
    """May also be answered without a daemon, with less to say."""
    exit_status: Callable[[Any], int] = _always_fine
    """The exit status that an Output stands for."""
    exits: tuple[tuple[int, str], ...] = ()
    """Exit statuses of this op beyond the general ones, each with its meaning."""

    def streams(self, wanted: Any) -> bool:
        """Whether the answer to this Input is a stream."""
        return self.is_stream or (self.follow is not None and wanted.follow)

    def is_local(self, words: Sequence[str]) -> bool:
        """Whether a call with these words needs no daemon."""
        has_option = bool(self.local_with) and any(word.partition("=")[0] == self.local_with for word in words)
        return self.effect == "local" or has_option

    @property
    def command(self) -> str:
        """How the command line spells it: `list-panes`, `config init`."""
        group, _, rest = self.name.replace("_", "-").partition("-")
        return f"{group} {rest}" if rest and group in GROUPS else self.name.replace("_", "-")


GROUPS = frozenset(
    {"accounts", "agents", "audit", "config", "db", "events", "hook", "policy", "rules", "setup", "workflow"}
)
"""Words that stand before another one on the command line."""

FACE_COMMANDS = (
    ("up", "Start the daemon if none runs, and show all panes."),
    ("down", "Stop everything that was started."),
    ("demo", "Start a private tmux server with lively panes to try things on."),
    ("daemon", "Start, stop or run the daemon."),
    ("robot", "The same commands for programs: one JSON line an answer."),
)
"""Commands that are no ops: they start and stop what ops talk to."""

FACE_WORDS = {
    "up": ("--demo-if-empty", "--once", "--interval"),
    "down": (),
    "demo": ("start", "stop"),
    "daemon": ("start", "stop", "restart", "status", "--foreground"),
}
"""What may follow them, for completion; a test compares it with their declarations."""
