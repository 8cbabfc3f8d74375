"""How tmux is told to start a program: in a new session, window or pane, without taking anybody's place on screen."""

import re

from termvisor.backends.tmux.control_mode import quote
from termvisor.errors import BadRequest
from termvisor.model.action.action import Spawn
from termvisor.model.ids import MuxPaneId

_SESSION_ID = re.compile(r"\$\d+")
_STAYS = 'tmux set-option -p -t "$TMUX_PANE" remain-on-exit failed 2>/dev/null; echo; exec "$@"'
"""Run by the new pane itself: no later word to tmux could be sure to come before the program ends. The empty row is the
one that tmux pushes off the screen when it says that a pane is dead."""
_COMMANDS = {"session": "new-session", "window": "new-window", "pane": "split-window"}


def spawn_command(wanted: Spawn, beside: MuxPaneId | None) -> str:
    """One command; it prints the new pane's id and process."""
    words = [_COMMANDS[wanted.where], "-d", "-P", "-F", "'#{pane_id} #{pane_pid}'", *_place(wanted, beside)]
    if wanted.cwd:
        words += ["-c", quote(_literal(wanted.cwd))]
    for name, value in wanted.env.items():
        words += ["-e", quote(f"{name}={value}")]
    if wanted.name and wanted.where != "pane":
        words += ["-n", quote(wanted.name)]
    return " ".join([*words, *(["--", *_program(_kept(wanted))] if wanted.command else [])])


def _place(wanted: Spawn, beside: MuxPaneId | None) -> list[str]:
    if wanted.where == "session":
        return ["-s", quote(wanted.session)] if wanted.session else []
    if wanted.where == "pane":
        if beside is None:
            raise BadRequest("a new pane needs one that it is split from")
        return ["-h" if wanted.is_horizontal else "-v", "-t", beside]
    if not wanted.session:
        hint = "Name one with --session, or take --where session for a new one."
        raise BadRequest("a new window needs a session", hint=hint)
    exactly = "" if _SESSION_ID.fullmatch(wanted.session) else "="
    return ["-t", quote(f"{exactly}{wanted.session}:")]


def _kept(wanted: Spawn) -> tuple[str, ...]:
    """The program; one that may fail to start leaves its reason on the screen."""
    stays = wanted.keeps_failure or wanted.account
    return ("sh", "-c", _STAYS, "sh", *wanted.command) if stays else wanted.command


def _program(argv: tuple[str, ...]) -> list[str]:
    """tmux hands a single word to a shell and several to the system; a program alone is quoted for the shell."""
    if len(argv) > 1:
        return [quote(word) for word in argv]
    return [quote("exec '" + argv[0].replace("'", "'\\''") + "'")]


def _literal(text: str) -> str:
    """Text in which tmux finds no format."""
    return text.replace("#", "##")
