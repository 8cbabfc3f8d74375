"""A Call is one program of a command line with its words, what feeds it and where its output goes."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from termvisor.policy.shell.word import HOLE, Word

_VERSIONED = re.compile(r"^(python|pypy|pip|perl|ruby|node|php|lua|tclsh|bash|zsh|psql)[\d.-]+$")
_GNU = ("rm", "mv", "cp", "dd", "chmod", "chown", "shred", "truncate", "tee", "find", "xargs", "sed", "ln", "rmdir")
_OTHER_NAMES = {f"g{name}": name for name in _GNU} | {"nodejs": "node", "ncat": "nc", "netcat": "nc", "gawk": "awk"}


class Redirect(Struct, frozen=True):
    """``way`` is where the data goes: into the program, out of it, or both."""

    way: Literal["in", "out", "both"]
    word: Word


class Call(Struct, frozen=True, kw_only=True):
    """``fed_by`` are the calls whose output it may read, ``given`` the text of a here-document or here-string."""

    words: tuple[Word, ...] = ()
    sets: tuple[str, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    given: Word | None = None
    fed_by: tuple[Call, ...] = ()
    substituted: tuple[Call, ...] = ()
    """The calls whose output becomes part of its words."""
    start: int = 0
    end: int = 0

    @property
    def name(self) -> str:
        """The program, by its last name; empty where it is not known."""
        return program_name(self.words[0]) if self.words else ""

    @property
    def arguments(self) -> tuple[Word, ...]:
        return self.words[1:]

    @property
    def text(self) -> str:
        """What would be run, without quotes; `…` for what is not known."""
        return " ".join(word.text.replace(HOLE, "…") for word in self.words)

    @property
    def reads_stdin(self) -> bool:
        return bool(self.fed_by or self.given or any(redirect.way == "in" for redirect in self.redirects))


def program_name(word: Word) -> str:
    return "" if word.is_pattern or not word.is_known else _last_name(word.text)


@lru_cache(256)
def _last_name(text: str) -> str:
    name = text.removeprefix("=").rstrip("/").rpartition("/")[2].casefold()
    name = name.removesuffix(".exe")
    name = _VERSIONED.sub(r"\1", name)
    return _OTHER_NAMES.get(name, name)


def literal(argv: tuple[str, ...], sets: tuple[str, ...] = ()) -> Call:
    """The call of a program that is started without a shell."""
    return Call(words=tuple(Word(text.replace(HOLE, "\ufffd")) for text in argv), sets=sets)
