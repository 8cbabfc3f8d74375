"""The commands about the daemon itself: `up`, `down`, `demo`, `daemon`. Declared once, parsed like operations."""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from termvisor.errors import BadRequest, VisorError
from termvisor.frontends.cli import attach, daemon, demo, down, up
from termvisor.frontends.cli import next as next_up
from termvisor.frontends.cli.fast_client import write_all
from termvisor.frontends.tui.player import player
from termvisor.ops.agents.next import NextArgs
from termvisor.ops.api.arguments import describe_arguments, parse_arguments, render_usage
from termvisor.ops.history.replay import ReplayArgs
from termvisor.ops.panes.attach import AttachArgs


class LocalCommand(Struct, frozen=True):
    """``run`` gets its Input and gives the exit status."""

    Input: type[Struct]
    run: Callable[[Any], int]
    doc: str


LOCAL_COMMANDS = {
    "up": LocalCommand(
        up.UpCommandArgs, up.run, "Start the daemon when none runs, and show all panes, live on a terminal."
    ),
    "down": LocalCommand(down.DownCommandArgs, down.run, "Stop everything that was started: demo, daemon, recorder."),
    "demo": LocalCommand(
        demo.DemoCommandArgs, demo.run, "Start or stop a private tmux server with six lively panes to try things on."
    ),
    "daemon": LocalCommand(daemon.DaemonCommandArgs, daemon.run, "Start, stop, restart or look at the daemon."),
}


TERMINAL_COMMANDS = {
    "replay": LocalCommand(ReplayArgs, player.run_player, "Play what a pane showed, like a film."),
    "attach": LocalCommand(AttachArgs, attach.run, "Look at a pane in this terminal, with tmux itself."),
    "next": LocalCommand(NextArgs, next_up.run, "Go to the agent that needs you most."),
}
"""On a terminal; elsewhere they are operations like the others."""


def run_local_command(argv: Sequence[str]) -> int:
    name, words = argv[0], argv[1:]
    command = LOCAL_COMMANDS.get(name) or TERMINAL_COMMANDS[name]
    if "-h" in words or "--help" in words:
        write_all(1, _render_help(name, command).encode())
        return 0
    try:
        return command.run(parse_arguments(command.Input, words))
    except VisorError as error:
        hint = f"See `visor {name} --help`." if error.hint == BadRequest.hint else error.hint
        write_all(2, f"visor: {error.message}\nhint: {hint}\n".encode())
        return error.exit_status


def _render_help(name: str, command: LocalCommand) -> str:
    rows = [f"  {written:<24}{meaning}" for written, meaning in describe_arguments(command.Input)]
    return "\n".join(
        [f"visor {render_usage(name, command.Input)}", "", command.doc, *([""] if rows else []), *rows, ""]
    )
