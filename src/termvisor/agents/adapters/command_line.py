"""Parse command lines of agents: recognize the program, find option values and resumed sessions."""

import posixpath
import re
from collections.abc import Callable, Collection, Sequence

from msgspec import Struct

from termvisor.agents.adapters.adapter import ProcessInfo

# Programs that run scripts. Recent versions of node name the process after its main thread, `MainThread`.
SCRIPT_RUNTIMES = frozenset({"node", "nodejs", "bun", "deno", "MainThread"})
UUID_PATTERN = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_PYTHON = re.compile(r"python[\d.]*")
_FORK_OPTIONS = frozenset({"--fork", "--fork-session"})
_INFO_ARGUMENTS = frozenset({"-h", "--help", "-v", "-V", "--version", "help", "version"})


_PACKAGE_SCRIPT = re.compile(r".*/node_modules/(?P<script>(?P<package>(?:@[^/@.][^/]*/)?[^/@.][^/]*)/.+)")


class ProgramMatcher(Struct, frozen=True, kw_only=True):
    """Matcher that recognizes an agent's process by its command line."""

    program_names: frozenset[str]
    script_pattern: str
    """Pattern of the script's path, for a program that a runtime such as node runs."""
    non_agent_commands: frozenset[str] = frozenset()
    """Subcommands that do not start a conversation."""

    def get_arguments(self, process: ProcessInfo) -> tuple[str, ...] | None:
        """Return the arguments of the program; None if the process is another program."""
        if not process.argv:
            return None
        if _get_program_name(process) in self.program_names:
            return process.argv[1:]
        return get_script_arguments(process, self.script_pattern)

    def is_agent(self, process: ProcessInfo) -> bool:
        """Return True if the process holds a conversation."""
        arguments = self.get_arguments(process)
        if arguments is None or _INFO_ARGUMENTS.intersection(arguments):
            return False
        return next(iter(arguments), "") not in self.non_agent_commands

    def build_session_finder(self, session_resume: "SessionResume", *options: str) -> Callable[[ProcessInfo], str]:
        """Return a function that finds the session resumed by one of these command-line options."""
        return lambda process: session_resume.find_resumed_session(options, self.get_arguments(process) or ())

    def find_agent(self, processes: Sequence[ProcessInfo]) -> ProcessInfo | None:
        """Return the innermost agent process: the outer ones are launchers that wait for it.

        Among processes with the same command line it is the outer one: the inner one was just forked and has not called
        exec yet.
        """
        agents = [process for process in processes if self.is_agent(process)]
        return next((process for process in agents if process.argv == agents[-1].argv), None)


class SessionResume(Struct, frozen=True):
    """How to resume a session of an agent."""

    command_template: tuple[str, ...]
    """The command, with `{}` in place of the session id."""
    session_pattern: str = UUID_PATTERN
    """Pattern of a session id."""

    def is_session(self, text: str) -> bool:
        return re.fullmatch(self.session_pattern, text) is not None

    def find_resumed_session(self, options: Collection[str], arguments: Sequence[str]) -> str:
        """Return the session resumed by one of these options; empty if there is none. Forked sessions get a new id."""
        options_part = arguments[: arguments.index("--")] if "--" in arguments else arguments
        session = get_option_value(options, options_part)
        return session if self.is_session(session) and not _FORK_OPTIONS.intersection(options_part) else ""

    def build_command(self, session: str) -> tuple[str, ...]:
        """Return the command that resumes a session; empty if the id is malformed."""
        return tuple(word.replace("{}", session) for word in self.command_template) if self.is_session(session) else ()


def get_script_arguments(process: ProcessInfo, script_pattern: str) -> tuple[str, ...] | None:
    """Return the arguments of a script run by a runtime; None if it is another script or the process is no runtime."""
    argv = process.argv
    script_index = next((index for index, word in enumerate(argv[1:], 1) if not word.startswith("-")), 0)
    is_runtime = script_index > 0 and _is_runtime(_get_program_name(process))
    return argv[script_index + 1 :] if is_runtime and re.search(script_pattern, argv[script_index]) else None


def find_program_names(process: ProcessInfo) -> tuple[str, str, str]:
    """Return the name of the program and, if it is a runtime, of the script that it runs and of the script's package.

    Many packages name their script `cli.js`. It is named by its path in the package then.
    """
    name = _get_program_name(process)
    script = next((word for word in process.argv[1:] if not word.startswith("-")), "") if _is_runtime(name) else ""
    package = match["package"] if (match := _PACKAGE_SCRIPT.fullmatch(script)) else ""
    return name, match["script"] if match else posixpath.basename(script), package


def _is_runtime(name: str) -> bool:
    return name in SCRIPT_RUNTIMES or _PYTHON.fullmatch(name) is not None


def _get_program_name(process: ProcessInfo) -> str:
    # Linux appends " (deleted)" after an update has replaced the running program.
    return posixpath.basename(process.argv[0].removesuffix(" (deleted)"))


def get_option_value(names: Collection[str], arguments: Sequence[str]) -> str:
    """Return the value of an option, given as `--port 1` or `--port=1`; empty if it is not given."""
    for index, word in enumerate(arguments):
        name, has_value, value = word.partition("=")
        if name in names:
            return value if has_value else next(iter(arguments[index + 1 : index + 2]), "")
    return ""


def split_words(text: str) -> frozenset[str]:
    """Return the words of a text as a set, because tables of subcommands are easier to read and compare as text."""
    return frozenset(text.split())
