"""Recognize the Claude Code process of a pane.

It is a native program `claude`; the npm package starts it by a node script, or is one. A file named `claude`, and a
subcommand that holds no conversation (`claude mcp list`), is not an agent.
"""

import posixpath
import re
from collections.abc import Sequence

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.adapters.command_line import SessionResume, get_script_arguments

AGENT_NAME = "claude_code"
PROGRAM_NAME = "claude"
_SCRIPT_PATTERN = r"/@anthropic-ai/claude-code(?:-[a-z0-9-]+)?/(?:cli|cli-wrapper|bin/claude)\S*$|/\.?bin/claude$"
_INSTALLED_PATH = re.compile(r"/claude/versions/[\w.+-]+$|/@anthropic-ai/claude-code[\w-]*/\S*claude(?:\.exe)?$")
"""The native installer names the program after its version."""
NON_AGENT_COMMANDS = frozenset(
    {
        "agents",
        "auth",
        "auto-mode",
        "config",
        "daemon",
        "doctor",
        "gateway",
        "import",
        "install",
        "kill",
        "login",
        "logout",
        "logs",
        "mcp",
        "migrate-installer",
        "plugin",
        "plugins",
        "purge",
        "respawn",
        "rm",
        "setup-token",
        "stop",
        "ultrareview",
        "update",
        "upgrade",
    }
)
"""Subcommands that start no conversation."""
_INFO_OPTIONS = frozenset({"-h", "--help", "-v", "--version"})
_PRINT_OPTIONS = frozenset({"-p", "--print"})
SESSION_RESUME = SessionResume(("claude", "--resume", "{}"))
"""Works only in the folder in which the session was started."""


def find_process(processes: Sequence[ProcessInfo]) -> ProcessInfo | None:
    """Return the agent process: interactive rather than printing, the program rather than its start script."""
    agents = [process for process in processes if _is_claude(process) and _is_agent(get_arguments(process))]
    return min(agents, key=lambda process: (_is_unattended(process), is_run_as_script(process)), default=None)


def get_arguments(process: ProcessInfo) -> tuple[str, ...]:
    """Return the arguments without the program, or without the runtime and the script."""
    arguments = get_script_arguments(process, _SCRIPT_PATTERN)
    return process.argv[1:] if arguments is None else arguments


def find_resumed_session(process: ProcessInfo) -> str:
    return SESSION_RESUME.find_resumed_session(("-r", "--resume"), get_arguments(process))


def is_run_as_script(process: ProcessInfo) -> bool:
    """Return True if a script runtime such as node runs it."""
    return get_script_arguments(process, _SCRIPT_PATTERN) is not None


def _is_claude(process: ProcessInfo) -> bool:
    return _is_native(process) or is_run_as_script(process)


def _is_native(process: ProcessInfo) -> bool:
    """Return True by the kernel's process name; argv, which a process may change, counts only if both agree."""
    path = process.argv[0].removesuffix(" (deleted)") if process.argv else ""
    name = posixpath.basename(path)
    is_named = name in (PROGRAM_NAME, f"{PROGRAM_NAME}.exe") or _INSTALLED_PATH.search(path) is not None
    if not process.program:
        return is_named
    # The kernel truncates process names to 15 characters.
    return process.program == PROGRAM_NAME or (is_named and process.program == name[:15])


def _is_agent(arguments: Sequence[str]) -> bool:
    # The first argument is a subcommand or the prompt.
    first = next(iter(arguments), "")
    return first not in NON_AGENT_COMMANDS and not _INFO_OPTIONS.intersection(arguments)


def _is_unattended(process: ProcessInfo) -> bool:
    return bool(_PRINT_OPTIONS.intersection(get_arguments(process)))
