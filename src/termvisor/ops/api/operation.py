"""Declare an operation once for every front end.

Name, argument and result types, summary, doc and examples of the declaration become the command line, robot JSON,
JSON Schema and reference pages. An operation uses only its `Services` and never writes to a terminal itself.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Literal, get_args

from msgspec import Struct
from msgspec.structs import force_setattr

from termvisor.model.action.action import CallerFace
from termvisor.ops.render.text import RenderOptions

CLI_FACES: tuple[CallerFace, ...] = ("cli",)
"""Mark of an argument that exists only on a command line: `Meta(extra={"faces": CLI_FACES})`."""
PROGRAM_FACES: tuple[CallerFace, ...] = ("cli", "tui", "robot", "python")
"""Mark of an argument that models do not need."""
OperationEffect = Literal["read", "change", "local"]
"""`local` operations run in the client's process, without a daemon."""


class OperationExample(Struct, frozen=True):
    """``command_line`` is without the leading `visor`."""

    command_line: str
    description: str


class Operation(Struct, frozen=True, kw_only=True):
    """One operation. ``run`` returns a result, or an iterator of results if ``is_stream``."""

    name: str
    summary: str
    doc: str
    run: Callable[[Any, Any], Awaitable[Any] | AsyncIterator[Any]]
    """Called with `Services` and an instance of ``args_type``."""
    render_text: Callable[[Any, RenderOptions], str | bytes]
    """Render a result for users. Bytes are written unchanged."""
    args_type: type[Struct] = Struct
    """By default the annotation of the second parameter of ``run``."""
    result_type: type[Struct] = Struct
    """By default the annotated result of ``run``; of a stream, the type of its items."""
    effect: OperationEffect = "read"
    aliases: tuple[str, ...] = ()
    robot_name: str | None = None
    examples: tuple[OperationExample, ...] = ()
    is_stream: bool = False
    is_live: bool = False
    """True for a stream whose items are flushed one by one."""
    follow: Callable[[Any, Any], AsyncIterator[Any]] | None = None
    """Called instead of ``run`` if ``args.follow`` is set; yields results as they arrive."""
    build_request: Callable[[Any, Any], Awaitable[Any]] | None = None
    """Build the `ActionRequest` of an operation that acts, without executing it; used by `policy explain`."""
    list_changes: Callable[[Any, Any], tuple[Any, ...]] | None = None
    """Return the actions that the gate must allow before a call with these services and arguments runs; for operations
    that change settings, files or records themselves."""
    is_verbatim: bool = False
    """The text is captured output or a file, so its lines are never folded to the width of a terminal."""
    shows_pane_text: bool = False
    """The result contains text that programs in panes printed or chose, which models must take for data."""
    is_writing_file: Callable[[Any], bool] = lambda _args: False
    """Return True if the operation itself writes the file named by ``args.output``."""
    accepts_text_input: bool = False
    """``args.text`` may also come from a file, stdin or an editor on the client's side."""
    accepts_argument_bytes: bool = False
    """Words that are not UTF-8 reach the arguments as they are, with surrogates."""
    option_of_dashes: str = ""
    """The option that a `--` on the command line implies."""
    local_option: str = ""
    """The option that makes a call local: with it, the operation runs in the client's process, without a daemon."""
    works_without_daemon: bool = False
    """The operation also runs without a daemon, with a reduced result."""
    get_exit_status: Callable[[Any], int] = lambda _result: 0
    """Return the exit status for a result."""
    get_hint: Callable[[Any], str | None] = lambda _result: None
    """Return what to do next about a result, for the ``hint`` of its envelope; None if there is nothing to do."""
    exit_statuses: tuple[tuple[int, str], ...] = ()
    """Exit statuses specific to this operation, each with its meaning."""

    def __post_init__(self) -> None:
        annotations = list(getattr(self.run, "__annotations__", {}).values())
        if self.args_type is Struct:
            force_setattr(self, "args_type", annotations[1])
        if self.result_type is Struct:
            # `AsyncIterator[Item]` and `AsyncGenerator[Item, None]` are streams of `Item`.
            force_setattr(self, "result_type", (*get_args(annotations[-1]), annotations[-1])[0])

    def is_stream_for(self, args: Any) -> bool:
        """Return True if a call with these arguments yields a stream."""
        return self.is_stream or (self.follow is not None and args.follow)

    def is_local(self, words: Sequence[str]) -> bool:
        """Return True if a call with these words needs no daemon."""
        # The words are not parsed yet; the process that runs the call does that.
        has_option = bool(self.local_option) and any(word.partition("=")[0] == self.local_option for word in words)
        return self.effect == "local" or has_option

    @property
    def command(self) -> str:
        """Return the name on the command line: `list-panes`, `config init`."""
        # Only the groups are written as two words: `config init`, but `list-panes`.
        group, _, rest = self.name.replace("_", "-").partition("-")
        return f"{group} {rest}" if rest and group in COMMAND_GROUPS else self.name.replace("_", "-")


COMMAND_GROUPS = frozenset(
    {"accounts", "agents", "audit", "config", "db", "events", "hook", "job", "policy", "rules", "setup", "workflow"}
)
"""Commands that take a subcommand."""

CLI_ONLY_COMMANDS = (
    ("up", "Start the daemon if necessary and show all panes live."),
    ("tui", "Show the cockpit in this terminal."),
    ("down", "Stop the daemon, the recorder and the demo."),
    ("demo", "Start a private tmux server with example panes."),
    ("daemon", "Start, stop, restart or inspect the daemon."),
    ("robot", "Run a command with JSON output, for programs."),
    ("mcp", "Serve tools to a model over stdin and stdout (MCP)."),
)
"""Commands that are not operations: they start and stop the processes that operations need."""

CLI_ONLY_WORDS = {
    "up": ("--demo-if-empty", "--once"),
    "tui": ("--mouse",),
    "down": (),
    "demo": ("start", "stop"),
    "daemon": ("start", "stop", "restart", "status", "--foreground"),
    "mcp": ("--tools",),
}
"""Words that may follow these commands, for completion; a test compares them with the parsers."""
