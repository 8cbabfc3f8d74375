"""Which process of a pane is a Claude Code that somebody works with.

It is a native program called `claude`; installed by npm, a script for node starts it or is it. A file or a session that
happens to be called so is none, nor is one of its commands that ends by itself (`claude mcp list`).
"""

import posixpath
import re
from collections.abc import Sequence

from termvisor.agents.adapters.adapter import Process
from termvisor.agents.adapters.command_line import Resume, script_words

AGENT = "claude_code"
PROGRAM = "claude"
_SCRIPT = r"/@anthropic-ai/claude-code(?:-[a-z0-9-]+)?/(?:cli|cli-wrapper|bin/claude)\S*$|/\.?bin/claude$"
_INSTALLED = re.compile(r"/claude/versions/[\w.+-]+$|/@anthropic-ai/claude-code[\w-]*/\S*claude(?:\.exe)?$")
"""The native installer names the program after its version."""
ERRANDS = frozenset(
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
_ASIDE = frozenset({"-h", "--help", "-v", "--version"})
_UNATTENDED = frozenset({"-p", "--print"})
RESUME = Resume(("claude", "--resume", "{}"))
"""Only in the folder in which the session began."""


def recognise(processes: Sequence[Process]) -> Process | None:
    """The program itself rather than the script that starts it; one with a face rather than one that prints."""
    found = [process for process in processes if _is_claude(process) and _is_agent(arguments(process))]
    return min(found, key=lambda one: (_is_unattended(one), is_script(one)), default=None)


def arguments(process: Process) -> tuple[str, ...]:
    words = script_words(process, _SCRIPT)
    return process.argv[1:] if words is None else words


def resumed_by(process: Process) -> str:
    return RESUME.named(("-r", "--resume"), arguments(process))


def is_script(process: Process) -> bool:
    """Whether an engine runs it as a script; npm's own processes only start it."""
    return script_words(process, _SCRIPT) is not None


def _is_claude(process: Process) -> bool:
    return _is_native(process) or is_script(process)


def _is_native(process: Process) -> bool:
    """By what the kernel calls it; by its own name only where that agrees or is not told."""
    first = process.argv[0].removesuffix(" (deleted)") if process.argv else ""
    called = posixpath.basename(first)
    is_named = called in (PROGRAM, f"{PROGRAM}.exe") or _INSTALLED.search(first) is not None
    if not process.program:
        return is_named
    return process.program == PROGRAM or (is_named and process.program == called[:15])


def _is_agent(words: Sequence[str]) -> bool:
    """The first word is an errand, or else the prompt."""
    first = next(iter(words), "")
    return first not in ERRANDS and not _ASIDE.intersection(words)


def _is_unattended(process: Process) -> bool:
    return bool(_UNATTENDED.intersection(arguments(process)))
