"""Entry point of the `visor` command.

Forwards most command lines to the daemon unparsed, with a minimum of imports, to start fast. Commands that run in this
process, and all commands while no daemon is running, are handled by `frontends.cli`.
"""

import os
import sys

from termvisor.frontends.cli import fast_client
from termvisor.model.version import describe_version
from termvisor.protocol import command_protocol

LOCAL_COMMANDS = ("up", "tui", "down", "demo", "daemon", "mcp")
"""Commands that manage the daemon itself; all others are operations."""
_VERSION_COMMANDS = (["--version"], ["-V"], ["version"])
STATUS_LINE_COMMAND = "tmux-status"
"""Run by tmux every few seconds, so it never starts the daemon and prints nothing if none is running."""


def main() -> int:
    try:
        return _dispatch(sys.argv[1:])
    except KeyboardInterrupt:
        return 130  # 128 + SIGINT
    except BrokenPipeError:
        return 141  # 128 + SIGPIPE


def _dispatch(argv: list[str]) -> int:
    if argv in _VERSION_COMMANDS:
        # The operation, without its imports: installers and editors ask for the version of every program.
        sys.stdout.write(f"{describe_version()}\n")
        return 0
    if argv[:1] == ["daemon"] and "--foreground" in argv:
        from termvisor.daemon import main as foreground

        return foreground.run()
    if argv[:1] == ["mcp"] and (tools := _read_tools_option(argv[1:])):
        from termvisor.frontends.mcp import bridge

        return bridge.run_bridge(tools)
    if not argv and _can_show_cockpit():
        argv = ["tui"]
    if argv and (argv[0] in LOCAL_COMMANDS or _is_interactive_view(argv)):
        from termvisor.frontends.cli import local_commands

        return local_commands.run_local_command(argv)
    if argv[:1] == ["hook"] and not os.isatty(0) and not {"-h", "--help"}.intersection(argv):
        from termvisor.frontends import hook

        return hook.run_hook(fast_client.get_socket_path(os.environ), tuple(argv))  # noqa: TID251 - importing settings is too slow here
    request = _build_request(argv)
    status = fast_client.send_command(fast_client.get_socket_path(os.environ), request)  # noqa: TID251 - importing settings is too slow here
    if status >= 0 or _is_status_line(argv):
        return max(0, status)
    from termvisor.frontends.cli import fallback

    return fallback.run_without_daemon(request, status)


def _read_tools_option(words: list[str]) -> str:
    """Return the value of `--tools`, or its default; empty if other words need the parser of options."""
    if not words:
        return "core"
    if len(words) == 2 and words[0] == "--tools":
        return words[1]
    return words[0].removeprefix("--tools=") if len(words) == 1 and words[0].startswith("--tools=") else ""


def _can_show_cockpit() -> bool:
    """Return True in a terminal if the extra `tui` is installed; elsewhere `visor` prints the quick start."""
    if not (os.isatty(0) and os.isatty(1)):
        return False
    from importlib.util import find_spec

    return find_spec("textual") is not None


def _is_interactive_view(argv: list[str]) -> bool:
    """Return True for `replay`, `attach` and the like in a terminal, unless an option requests plain output."""
    options = ("--json", "--format", "--full", "--fields", "-h", "--help", "-q", "--quiet")
    wants_output = any(word.startswith(options) for word in argv)
    is_view = argv[0] in ("replay", "attach") or argv[:2] == ["config", "edit"]
    is_view = is_view or (argv[0] == "next" and "--go" in argv)
    return is_view and not wants_output and os.isatty(0) and os.isatty(1)


def _is_status_line(argv: list[str]) -> bool:
    return argv[:1] == [STATUS_LINE_COMMAND] and "-h" not in argv and "--help" not in argv


def _build_request(argv: list[str]) -> command_protocol.CommandRequest:
    try:
        cwd = os.getcwd()
    except FileNotFoundError:  # the working directory was deleted
        cwd = "/"
    if argv[:1] == ["robot"]:
        return command_protocol.CommandRequest(tuple(argv[1:]), True, cwd)
    if _is_status_line(argv):
        return command_protocol.CommandRequest(tuple(argv), False, cwd)
    from termvisor.frontends.cli.terminal_info import detect_terminal

    return command_protocol.CommandRequest(tuple(argv), False, cwd, detect_terminal())


if __name__ == "__main__":
    sys.exit(main())
