"""How a process was started: the program that it is, and the words that were said to it."""

import posixpath
import re
from collections.abc import Collection, Sequence

from msgspec import Struct

from termvisor.agents.adapters.adapter import ProcessInfo

SCRIPT_RUNTIMES = frozenset({"node", "nodejs", "bun", "deno", "MainThread"})
"""Programs that run scripts; node calls its first thread, and so itself, `MainThread`."""
UUID_PATTERN = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_FORK_OPTIONS = frozenset({"--fork", "--fork-session"})
_INFO_ARGUMENTS = frozenset({"-h", "--help", "-v", "-V", "--version", "help", "version"})


class ProgramMatcher(Struct, frozen=True, kw_only=True):
    """By which a program is known."""

    program_names: frozenset[str]
    """Of the program itself."""
    script_pattern: str
    """A pattern of the path that an engine runs as the program."""
    non_agent_commands: frozenset[str] = frozenset()
    """First words with which it does something else than to talk, and ends."""

    def get_arguments(self, process: ProcessInfo) -> tuple[str, ...] | None:
        """What stands behind the program; None for another program."""
        argv = process.argv
        if not argv:
            return None
        called = posixpath.basename(argv[0].removesuffix(" (deleted)"))
        return argv[1:] if called in self.program_names else get_script_arguments(process, self.script_pattern)

    def is_agent(self, process: ProcessInfo) -> bool:
        words = self.get_arguments(process)
        if words is None or _INFO_ARGUMENTS.intersection(words):
            return False
        return next(iter(words), "") not in self.non_agent_commands

    def find_agent(self, processes: Sequence[ProcessInfo]) -> ProcessInfo | None:
        """The innermost: those around it only started it, and do nothing but wait.

        One that has the same words as another around it has just been forked, and is about to become something else.
        """
        agents = [one for one in processes if self.is_agent(one)]
        return next((one for one in agents if one.argv == agents[-1].argv), None)


class SessionResume(Struct, frozen=True):
    """How a session is taken up again."""

    command_template: tuple[str, ...]
    """The command, with `{}` in the place of the session."""
    session_pattern: str = UUID_PATTERN
    """What the name of a session looks like."""

    def is_session(self, text: str) -> bool:
        return re.fullmatch(self.session_pattern, text) is not None

    def find_resumed_session(self, options: Collection[str], arguments: Sequence[str]) -> str:
        """The session that one of these options takes up; empty where none is named. A fork gets another id."""
        said = arguments[: arguments.index("--")] if "--" in arguments else arguments
        session = get_option_value(options, said)
        return session if self.is_session(session) and not _FORK_OPTIONS.intersection(said) else ""

    def build_command(self, session: str) -> tuple[str, ...]:
        """Empty for what cannot be a session."""
        return tuple(word.replace("{}", session) for word in self.command_template) if self.is_session(session) else ()


def get_script_arguments(process: ProcessInfo, script_pattern: str) -> tuple[str, ...] | None:
    """What stands behind the script that an engine runs; None where it is another script, or no engine."""
    argv = process.argv
    place = next((at for at, word in enumerate(argv[1:], 1) if not word.startswith("-")), 0)
    is_engine = place > 0 and posixpath.basename(argv[0].removesuffix(" (deleted)")) in SCRIPT_RUNTIMES
    return argv[place + 1 :] if is_engine and re.search(script_pattern, argv[place]) else None


def get_option_value(names: Collection[str], arguments: Sequence[str]) -> str:
    """Of an option, said as `--port 1` or as `--port=1`; empty where it is not said."""
    for at, word in enumerate(arguments):
        name, has_value, value = word.partition("=")
        if name in names:
            return value if has_value else next(iter(arguments[at + 1 : at + 2]), "")
    return ""
