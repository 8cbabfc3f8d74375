"""How a process was started: the program that it is, and the words that were said to it."""

import posixpath
import re
from collections.abc import Collection, Sequence

from msgspec import Struct

from termvisor.agents.base import Process

ENGINES = frozenset({"node", "nodejs", "bun", "deno", "MainThread"})
"""Programs that run scripts; node calls its first thread, and so itself, `MainThread`."""
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
        if called in self.names:
            return argv[1:]
        place = next((at for at, word in enumerate(argv[1:], 1) if not word.startswith("-")), 0)
        is_script = called in ENGINES and place and re.search(self.script, argv[place]) is not None
        return argv[place + 1 :] if is_script else None

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


def value_of(names: Collection[str], words: Sequence[str]) -> str:
    """Of an option, said as `--port 1` or as `--port=1`; empty where it is not said."""
    for at, word in enumerate(words):
        name, has_value, value = word.partition("=")
        if name in names:
            return value if has_value else next(iter(words[at + 1 : at + 2]), "")
    return ""
