"""How a process was started: the program that it is, and the words that were said to it."""

import posixpath
import re
from collections.abc import Collection, Sequence

from msgspec import Struct

from termvisor.agents.adapters.adapter import Process

ENGINES = frozenset({"node", "nodejs", "bun", "deno", "MainThread"})
"""Programs that run scripts; node calls its first thread, and so itself, `MainThread`."""
UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_FORKS = frozenset({"--fork", "--fork-session"})
_ASIDE = frozenset({"-h", "--help", "-v", "-V", "--version", "help", "version"})


class Launch(Struct, frozen=True, kw_only=True):
    """By which a program is known."""

    names: frozenset[str]
    """Of the program itself."""
    script: str
    """A pattern of the path that an engine runs as the program."""
    errands: frozenset[str] = frozenset()
    """First words with which it does something else than to talk, and ends."""

    def words(self, process: Process) -> tuple[str, ...] | None:
        """What stands behind the program; None for another program."""
        argv = process.argv
        if not argv:
            return None
        called = posixpath.basename(argv[0].removesuffix(" (deleted)"))
        return argv[1:] if called in self.names else script_words(process, self.script)

    def is_agent(self, process: Process) -> bool:
        words = self.words(process)
        if words is None or _ASIDE.intersection(words):
            return False
        return next(iter(words), "") not in self.errands

    def found(self, processes: Sequence[Process]) -> Process | None:
        """The innermost: those around it only started it, and do nothing but wait.

        One that has the same words as another around it has just been forked, and is about to become something else.
        """
        agents = [one for one in processes if self.is_agent(one)]
        return next((one for one in agents if one.argv == agents[-1].argv), None)


class Resume(Struct, frozen=True):
    """How a session is taken up again."""

    words: tuple[str, ...]
    """The command, with `{}` in the place of the session."""
    session: str = UUID
    """What the name of a session looks like."""

    def is_session(self, text: str) -> bool:
        return re.fullmatch(self.session, text) is not None

    def named(self, options: Collection[str], words: Sequence[str]) -> str:
        """The session that one of these options takes up; empty where none is named. A fork gets another id."""
        said = words[: words.index("--")] if "--" in words else words
        session = value_of(options, said)
        return session if self.is_session(session) and not _FORKS.intersection(said) else ""

    def command(self, session: str) -> tuple[str, ...]:
        """Empty for what cannot be a session."""
        return tuple(word.replace("{}", session) for word in self.words) if self.is_session(session) else ()


def script_words(process: Process, script: str) -> tuple[str, ...] | None:
    """What stands behind the script that an engine runs; None where it is another script, or no engine."""
    argv = process.argv
    place = next((at for at, word in enumerate(argv[1:], 1) if not word.startswith("-")), 0)
    is_engine = place > 0 and posixpath.basename(argv[0].removesuffix(" (deleted)")) in ENGINES
    return argv[place + 1 :] if is_engine and re.search(script, argv[place]) else None


def value_of(names: Collection[str], words: Sequence[str]) -> str:
    """Of an option, said as `--port 1` or as `--port=1`; empty where it is not said."""
    for at, word in enumerate(words):
        name, has_value, value = word.partition("=")
        if name in names:
            return value if has_value else next(iter(words[at + 1 : at + 2]), "")
    return ""
