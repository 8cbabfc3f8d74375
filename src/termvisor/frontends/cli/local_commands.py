"""Declare and run the commands that the client itself executes: `up`, `down`, `demo`, `daemon`, terminal commands."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct

from termvisor.errors import BadRequest, VisorError
from termvisor.frontends.cli import attach, daemon_commands
from termvisor.frontends.cli.attach import run_next
from termvisor.frontends.cli.config_editor import run_config_edit
from termvisor.frontends.cli.fast_client import write_all
from termvisor.frontends.mcp.bridge import run_bridge
from termvisor.frontends.tui.player import player
from termvisor.ops.agents.next import NextArgs
from termvisor.ops.api.arguments import describe_arguments, parse_arguments, render_usage
from termvisor.ops.config.config_edit import ConfigEditArgs
from termvisor.ops.history.replay import ReplayArgs
from termvisor.ops.panes.attach import AttachArgs


class McpCommandArgs(Struct, frozen=True, kw_only=True):
    tools: Annotated[
        str, Meta(description="Tools to offer: core, read, all, or names; comma-separated.", min_length=1)
    ] = "core"


def run_mcp(args: McpCommandArgs) -> int:
    """Serve a client until it closes stdin."""
    return run_bridge(args.tools)


class LocalCommand(Struct, frozen=True):
    """``run`` takes the parsed ``Input`` and returns the exit status."""

    Input: type[Struct]
    run: Callable[[Any], int]
    doc: str


LOCAL_COMMANDS = {
    "up": LocalCommand(
        daemon_commands.UpCommandArgs,
        daemon_commands.run_up,
        "Start the daemon if it is not running, and show all panes, live on a terminal.",
    ),
    "tui": LocalCommand(
        daemon_commands.TuiCommandArgs,
        daemon_commands.run_tui,
        "Show all panes and agents live on a terminal; those that need you first, answered in place.",
    ),
    "down": LocalCommand(daemon_commands.DownCommandArgs, daemon_commands.run_down, "Stop demo, daemon and recorder."),
    "demo": LocalCommand(
        daemon_commands.DemoCommandArgs,
        daemon_commands.run_demo,
        "Start or stop a private tmux server with six panes to try things on.",
    ),
    "daemon": LocalCommand(
        daemon_commands.DaemonCommandArgs,
        daemon_commands.run_daemon,
        "Start, stop or restart the daemon, or show its status.",
    ),
    "mcp": LocalCommand(McpCommandArgs, run_mcp, "Serve tools to a model over stdin and stdout (MCP)."),
}

TERMINAL_COMMANDS = {
    "replay": LocalCommand(ReplayArgs, player.run_player, "Play the recorded screens of a pane."),
    "attach": LocalCommand(AttachArgs, attach.run_attach, "Open a pane in this terminal with tmux."),
    "next": LocalCommand(NextArgs, run_next, "Go to the agent that needs you most."),
    "config edit": LocalCommand(ConfigEditArgs, run_config_edit, "Edit the config file, and validate it."),
}
"""Run by the client only in a terminal; elsewhere these are ordinary operations."""


def run_local_command(argv: Sequence[str]) -> int:
    length = 2 if " ".join(argv[:2]) in TERMINAL_COMMANDS else 1
    name, words = " ".join(argv[:length]), argv[length:]
    command = LOCAL_COMMANDS.get(name) or TERMINAL_COMMANDS[name]
    if "-h" in words or "--help" in words:
        write_all(1, _render_help(name, command).encode())
        return 0
    try:
        return command.run(parse_arguments(command.Input, words))
    except VisorError as error:
        # `visor help` covers only operations, so point to the command's own --help.
        hint = f"See `visor {name} --help`." if error.hint == BadRequest.hint else error.hint
        write_all(2, f"visor: {error.message}\nhint: {hint}\n".encode())
        return error.exit_status


def _render_help(name: str, command: LocalCommand) -> str:
    rows = [f"  {argument:<24}{description}" for argument, description in describe_arguments(command.Input)]
    return "\n".join(
        [f"visor {render_usage(name, command.Input)}", "", command.doc, *([""] if rows else []), *rows, ""]
    )
