"""Which process of a pane is a Claude Code that somebody works with.

It is a native program called `claude`; installed by npm, a script for node starts it or is it. A file or a session that
happens to be called so is none, nor is one of its commands that ends by itself (`claude mcp list`).
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
"""Its commands that have no conversation."""
_INFO_OPTIONS = frozenset({"-h", "--help", "-v", "--version"})
_PRINT_OPTIONS = frozenset({"-p", "--print"})
SESSION_RESUME = SessionResume(("claude", "--resume", "{}"))
"""Only in the folder in which the session began."""


def find_process(processes: Sequence[ProcessInfo]) -> ProcessInfo | None:
    """The program itself rather than the script that starts it; one with a face rather than one that prints."""
    found = [process for process in processes if _is_claude(process) and _is_agent(get_arguments(process))]
    return min(found, key=lambda one: (_is_unattended(one), is_run_as_script(one)), default=None)


def get_arguments(process: ProcessInfo) -> tuple[str, ...]:
    words = get_script_arguments(process, _SCRIPT_PATTERN)
    return process.argv[1:] if words is None else words


def find_resumed_session(process: ProcessInfo) -> str:
    return SESSION_RESUME.find_resumed_session(("-r", "--resume"), get_arguments(process))


def is_run_as_script(process: ProcessInfo) -> bool:
    """Whether an engine runs it as a script; npm's own processes only start it."""
    return get_script_arguments(process, _SCRIPT_PATTERN) is not None


def _is_claude(process: ProcessInfo) -> bool:
    return _is_native(process) or is_run_as_script(process)


def _is_native(process: ProcessInfo) -> bool:
    """By what the kernel calls it; by its own name only where that agrees or is not told."""
    first = process.argv[0].removesuffix(" (deleted)") if process.argv else ""
    called = posixpath.basename(first)
    is_named = called in (PROGRAM_NAME, f"{PROGRAM_NAME}.exe") or _INSTALLED_PATH.search(first) is not None
    if not process.program:
        return is_named
    return process.program == PROGRAM_NAME or (is_named and process.program == called[:15])


def _is_agent(arguments: Sequence[str]) -> bool:
    """The first word is an errand, or else the prompt."""
    first = next(iter(arguments), "")
    return first not in NON_AGENT_COMMANDS and not _INFO_OPTIONS.intersection(arguments)


def _is_unattended(process: ProcessInfo) -> bool:
    return bool(_PRINT_OPTIONS.intersection(get_arguments(process)))
