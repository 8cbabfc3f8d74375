"""tmux commands as values: the closed table of commands that Termvisor sends, their rendering, and their answer.

A request is a list of commands that the server runs as one unit, up to the first that fails. Its words go to the server
as they are (in the message of the native client, or in the argv of a `tmux` process); only lists for control mode, and
lists that are too long for a message, are written in tmux's own syntax.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Literal, Protocol, get_args

from msgspec import Struct

from termvisor.errors import BadRequest

CommandName = Literal[
    "capture-pane",
    "delete-buffer",
    "display-message",
    "kill-pane",
    "kill-session",
    "list-clients",
    "list-panes",
    "load-buffer",
    "new-session",
    "new-window",
    "paste-buffer",
    "pipe-pane",
    "refresh-client",
    "resize-window",
    "select-pane",
    "select-window",
    "send-keys",
    "set-environment",
    "set-option",
    "show-options",
    "source-file",
    "split-window",
]
"""All commands that are ever sent to a server. tests/live runs each of them against every supported tmux."""
_REFUSED = "refused"
COMMAND_NAMES: frozenset[str] = frozenset(get_args(CommandName))
_UNESCAPED_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 /._=:,+-")
_ESCAPES_BY_BYTE = {byte: f"\\{byte:03o}" for byte in range(256) if byte not in _UNESCAPED_BYTES}


class TmuxCommand:
    """One command: its name and its arguments."""

    def __init__(self, name: CommandName, *arguments: str):
        if name not in COMMAND_NAMES:
            raise ValueError(f"{name} is not in the table of commands that may be sent to tmux")
        self.words = (name, *arguments)

    @property
    def name(self) -> str:
        return self.words[0]


class TmuxReply(Struct, frozen=True):
    """The answer to one request: every line that its commands printed, and the errors.

    Only the output of the last command of a request, and lines after a random token, may hold text that a pane chose.
    """

    lines: tuple[bytes, ...] = ()
    error: str = ""


class TmuxClient(Protocol):
    """A way to have commands run by one tmux server."""

    kind: str
    """`native`, `plain` or `control`."""

    async def request(self, *commands: TmuxCommand, stdin: bytes = b"") -> TmuxReply:
        """Run commands as one unit; ``stdin`` is what a `-` among their words reads.

        Raises MuxError if the server does not answer.
        """

    def close(self) -> None:
        """Release the client's connection or process, if it keeps one."""


def generate_token() -> str:
    """Return a token that no pane can guess. Avoids `secrets`, which loads OpenSSL (four megabytes)."""
    return "tv" + os.urandom(12).hex()


def quote_word(text: str) -> str:
    """Quote text as one word in tmux syntax. A command that expands formats still expands those inside it."""
    return '"' + text.encode().decode("latin-1").translate(_ESCAPES_BY_BYTE) + '"'


def build_guard(pane: str, condition: str, report: str = "") -> TmuxCommand:
    """Return a command that ends its list with an error unless the condition holds; it prints one line if it does.

    ``report`` is a format for parse_refusal(). If the pane does not exist, tmux evaluates both for no pane or another
    one, so the condition must compare the id. This reads an option whose name is a format: its name, or no option's.
    `if-shell` would do the same, but tmux never frees the commands that it parses (1.9 KB for each pipe, 3.3a to 3.7c).
    """
    return TmuxCommand("show-options", "-gv", "-t", pane, f"#{{?{condition},base-index,{_REFUSED} {report}}}")


def parse_refusal(reply: TmuxReply) -> str | None:
    """Return the expanded report of a guard whose condition did not hold; None if it held or something else failed."""
    _, is_refused, report = reply.error.partition(f"invalid option: {_REFUSED}")
    return report.strip() if is_refused else None


def render_script(commands: Sequence[TmuxCommand]) -> str:
    """Return commands in tmux syntax, on one line."""
    return " ; ".join(" ".join(map(quote_word, command.words)) for command in commands)


def render_hidden_script(commands: Sequence[TmuxCommand], texts: Mapping[str, str]) -> str:
    """Return a script for `source-file` in which `#{name}` stands for a text that tmux must not log or keep.

    tmux keeps every command with its arguments in its message log, but not the assignment of a hidden variable. The
    last line removes the variables, also if a command fails.
    """
    assignments = [f"%hidden {name}={quote_word(text)}" for name, text in texts.items()]
    removal = render_script([TmuxCommand("set-environment", "-gu", name) for name in texts])
    return "\n".join([*assignments, render_script(commands), removal, ""])


def render_argv(commands: Sequence[TmuxCommand]) -> list[str]:
    """Return commands as the words of one command line, separated by `;`.

    Raises BadRequest for a word with a NUL character, which would end it.
    """
    argv: list[str] = []
    for command in commands:
        argv += [";"] if argv else []
        argv += map(_escape_last_semicolon, command.words)
    if any("\0" in word for word in argv):
        raise BadRequest("a NUL character cannot be part of a tmux command")
    return argv


def _escape_last_semicolon(word: str) -> str:
    # tmux takes a semicolon at the end of a word as the end of the command, unless a backslash precedes it.
    return word[:-1] + "\\;" if word.endswith(";") else word


def split_output(output: bytes) -> tuple[bytes, ...]:
    """Return the lines of what commands printed."""
    return tuple(output.removesuffix(b"\n").split(b"\n")) if output else ()
