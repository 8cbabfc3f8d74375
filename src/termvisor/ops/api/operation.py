"""An Op is something the product can do: declared once, shown by every face.

The declaration is the reference: name, Input, Output, summary, doc and examples become the command line, robot JSON,
JSON Schema and docs. An op sees the product through `World` only and never writes to a terminal itself.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Literal

from msgspec import Struct

from termvisor.ops.render.text import RenderOptions

OperationEffect = Literal["read", "change", "local"]
"""What calling it does: looks, changes something, or works in the caller's own process without a daemon."""


class OperationExample(Struct, frozen=True):
    """``line`` is what stands after `visor`; ``does`` says what comes of it."""

    command_line: str
    description: str


def _get_zero_status(_result: Any) -> int:
    return 0


def _is_never_writing_file(_args: Any) -> bool:
    return False


class Operation(Struct, frozen=True, kw_only=True):
    """One operation. ``run`` gives an Output, or many of them where ``is_stream``."""

    name: str
    summary: str
    doc: str
    args_type: type[Struct]
    result_type: type[Struct]
    run: Callable[[Any, Any], Awaitable[Any] | AsyncIterator[Any]]
    """From a World, or the `ActingWorld` of an op that acts, and an Input."""
    render_text: Callable[[Any, RenderOptions], str | bytes]
    """What a person reads. Bytes are written as they are."""
    effect: OperationEffect = "read"
    aliases: tuple[str, ...] = ()
    robot_name: str | None = None
    examples: tuple[OperationExample, ...] = ()
    is_stream: bool = False
    is_live: bool = False
    """A stream whose every item must reach the reader at once."""
    follow: Callable[[Any, Any], AsyncIterator[Any]] | None = None
    """What an Input with its ``follow`` set asks for in place of ``run``: Outputs as they come."""
    build_request: Callable[[Any, Any], Awaitable[Any]] | None = None
    """Of an op that acts: the `Wish` that an Input stands for. `policy explain` asks for it."""
    is_writing_file: Callable[[Any], bool] = _is_never_writing_file
    """Whether this Input has the op itself make the file that its ``output`` names."""
    accepts_text_input: bool = False
    """Its Input's ``text`` may also come out of a file or stdin of the caller's, or as a person edited it."""
    local_option: str = ""
    """The option that makes a call local: with it, it works in the caller's own process without a daemon."""
    works_without_daemon: bool = False
    """May also be answered without a daemon, with less to say."""
    get_exit_status: Callable[[Any], int] = _get_zero_status
    """The exit status that an Output stands for."""
    exit_statuses: tuple[tuple[int, str], ...] = ()
    """Exit statuses of this op beyond the general ones, each with its meaning."""

    def is_stream_for(self, args: Any) -> bool:
        """Whether the answer to this Input is a stream."""
        return self.is_stream or (self.follow is not None and args.follow)

    def is_local(self, words: Sequence[str]) -> bool:
        """Whether a call with these words needs no daemon."""
        has_option = bool(self.local_option) and any(word.partition("=")[0] == self.local_option for word in words)
        return self.effect == "local" or has_option

    @property
    def command(self) -> str:
        """How the command line spells it: `list-panes`, `config init`."""
        group, _, rest = self.name.replace("_", "-").partition("-")
        return f"{group} {rest}" if rest and group in COMMAND_GROUPS else self.name.replace("_", "-")


COMMAND_GROUPS = frozenset(
    {"accounts", "agents", "audit", "config", "db", "events", "hook", "policy", "rules", "setup", "workflow"}
)
"""Words that stand before another one on the command line."""

CLI_ONLY_COMMANDS = (
    ("up", "Start the daemon if none runs, and show all panes."),
    ("down", "Stop everything that was started."),
    ("demo", "Start a private tmux server with lively panes to try things on."),
    ("daemon", "Start, stop or run the daemon."),
    ("robot", "The same commands for programs: one JSON line an answer."),
)
"""Commands that are no ops: they start and stop what ops talk to."""

CLI_ONLY_WORDS = {
    "up": ("--demo-if-empty", "--once", "--interval"),
    "down": (),
    "demo": ("start", "stop"),
    "daemon": ("start", "stop", "restart", "status", "--foreground"),
}
"""What may follow them, for completion; a test compares it with their declarations."""
