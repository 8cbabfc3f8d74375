"""Build the tmux command that starts a program in a new session, window or pane in the background."""

import re

from termvisor.backends.tmux.control_mode import quote_word
from termvisor.errors import BadRequest
from termvisor.model.action.action import Spawn
from termvisor.model.ids import MuxPaneId

_SESSION_ID = re.compile(r"\$\d+")
_KEEP_FAILED_PANE_SCRIPT = 'tmux set-option -p -t "$TMUX_PANE" remain-on-exit failed 2>/dev/null; echo; exec "$@"'
"""Run in the new pane itself: a later command could reach tmux after the program exited. The empty row is the one
that tmux scrolls off the screen when it prints that the pane is dead."""
_COMMAND_BY_PLACE = {"session": "new-session", "window": "new-window", "pane": "split-window"}


def build_spawn_command(spawn: Spawn, beside: MuxPaneId | None) -> str:
    """Return a command that prints the new pane's id and process id.

    Raises BadRequest if the pane to split or the session is missing.
    """
    words = [
        _COMMAND_BY_PLACE[spawn.where],
        "-d",
        "-P",
        "-F",
        "'#{pane_id} #{pane_pid}'",
        *_build_target_arguments(spawn, beside),
    ]
    if spawn.cwd:
        words += ["-c", quote_word(_escape_formats(spawn.cwd))]
    for name, value in spawn.env.items():
        words += ["-e", quote_word(f"{name}={value}")]
    if spawn.name and spawn.where != "pane":
        words += ["-n", quote_word(spawn.name)]
    return " ".join([*words, *(["--", *_quote_program(_wrap_program(spawn))] if spawn.command else [])])


def _build_target_arguments(spawn: Spawn, beside: MuxPaneId | None) -> list[str]:
    if spawn.where == "session":
        return ["-s", quote_word(spawn.session)] if spawn.session else []
    if spawn.where == "pane":
        if beside is None:
            raise BadRequest("a new pane needs a pane to split")
        return ["-h" if spawn.is_horizontal else "-v", "-t", beside]
    if not spawn.session:
        hint = "Name one with --session, or use --where session for a new one."
        raise BadRequest("a new window needs a session", hint=hint)
    prefix = "" if _SESSION_ID.fullmatch(spawn.session) else "="
    return ["-t", quote_word(f"{prefix}{spawn.session}:")]


def _wrap_program(spawn: Spawn) -> tuple[str, ...]:
    """Return the command line, wrapped so that a failed program keeps its pane and error message if requested."""
    keeps_pane = spawn.keeps_failure or spawn.account
    return ("sh", "-c", _KEEP_FAILED_PANE_SCRIPT, "sh", *spawn.command) if keeps_pane else spawn.command


def _quote_program(argv: tuple[str, ...]) -> list[str]:
    """Quote the program for tmux, which runs several words directly but passes a single one to a shell."""
    if len(argv) > 1:
        return [quote_word(word) for word in argv]
    return [quote_word("exec '" + argv[0].replace("'", "'\\''") + "'")]


def _escape_formats(text: str) -> str:
    return text.replace("#", "##")
