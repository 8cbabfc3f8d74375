"""The commands about the daemon itself: `up`, `down`, `demo`, `daemon`. Declared once, parsed like operations."""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from termvisor.errors import BadRequest, VisorError
from termvisor.frontends.cli import attach, daemon, demo, down, up
from termvisor.frontends.cli import next as next_up
from termvisor.frontends.cli.fast_client import write
from termvisor.frontends.tui.player import player as replay
from termvisor.ops.agents.next import Next
from termvisor.ops.api.arguments import explained, parse, usage
from termvisor.ops.history.replay import Replay
from termvisor.ops.panes.attach import Attach


class Command(Struct, frozen=True):
    """``run`` gets its Input and gives the exit status."""

    Input: type[Struct]
    run: Callable[[Any], int]
    doc: str


COMMANDS = {
    "up": Command(up.Up, up.run, "Start the daemon when none runs, and show all panes, live on a terminal."),
    "down": Command(down.Down, down.run, "Stop everything that was started: demo, daemon, recorder."),
    "demo": Command(demo.Demo, demo.run, "Start or stop a private tmux server with six lively panes to try things on."),
    "daemon": Command(daemon.Daemon, daemon.run, "Start, stop, restart or look at the daemon."),
}


SHOWN = {
    "replay": Command(Replay, replay.run, "Play what a pane showed, like a film."),
    "attach": Command(Attach, attach.run, "Look at a pane in this terminal, with tmux itself."),
    "next": Command(Next, next_up.run, "Go to the agent that needs you most."),
}
"""On a terminal; elsewhere they are operations like the others."""


def run(argv: Sequence[str]) -> int:
    name, words = argv[0], argv[1:]
    command = COMMANDS.get(name) or SHOWN[name]
    if "-h" in words or "--help" in words:
        write(1, _help(name, command).encode())
        return 0
    try:
        return command.run(parse(command.Input, words))
    except VisorError as error:
        hint = f"See `visor {name} --help`." if error.hint == BadRequest.hint else error.hint
        write(2, f"visor: {error.message}\nhint: {hint}\n".encode())
        return error.exit_status


def _help(name: str, command: Command) -> str:
    rows = [f"  {written:<24}{meaning}" for written, meaning in explained(command.Input)]
    return "\n".join([f"visor {usage(name, command.Input)}", "", command.doc, *([""] if rows else []), *rows, ""])
