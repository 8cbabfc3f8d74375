"""One program call of a command line, and its effect as far as its words show."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from termvisor.policy.shell.word import UNKNOWN_TEXT, ShellWord

_VERSIONED_NAME = re.compile(r"^(python|pypy|pip|perl|ruby|node|php|lua|tclsh|bash|zsh|psql)[\d.-]+$")
_GNU_NAMES = "rm mv cp dd chmod chown shred truncate tee find xargs sed ln rmdir"
_NAME_BY_ALIAS = {f"g{name}": name for name in _GNU_NAMES.split()} | {
    "nodejs": "node",
    "ncat": "nc",
    "netcat": "nc",
    "gawk": "awk",
}


class ShellRedirect(Struct, frozen=True):
    """``direction`` is where the data goes: into the program, out of it, or both."""

    direction: Literal["in", "out", "both"]
    word: ShellWord


class ProgramCall(Struct, frozen=True, kw_only=True):
    """``fed_by`` are the calls whose output it may read, ``input_text`` is a here-document or here-string."""

    words: tuple[ShellWord, ...] = ()
    sets: tuple[str, ...] = ()
    redirects: tuple[ShellRedirect, ...] = ()
    input_text: ShellWord | None = None
    fed_by: tuple[ProgramCall, ...] = ()
    substituted: tuple[ProgramCall, ...] = ()
    """The calls whose output becomes part of its words."""
    start: int = 0
    end: int = 0

    @property
    def name(self) -> str:
        """The base name of the program; empty if it is unknown."""
        return get_program_name(self.words[0]) if self.words else ""

    @property
    def arguments(self) -> tuple[ShellWord, ...]:
        return self.words[1:]

    @property
    def text(self) -> str:
        """The command without quotes; `…` for unknown text."""
        return " ".join(word.text.replace(UNKNOWN_TEXT, "…") for word in self.words)

    @property
    def reads_stdin(self) -> bool:
        return bool(self.fed_by or self.input_text or any(redirect.direction == "in" for redirect in self.redirects))


def get_program_name(word: ShellWord) -> str:
    return "" if word.is_pattern or not word.is_known else _normalize_name(word.text)


@lru_cache(256)
def _normalize_name(text: str) -> str:
    name = text.removeprefix("=").rstrip("/").rpartition("/")[2].casefold()
    name = name.removesuffix(".exe")
    name = _VERSIONED_NAME.sub(r"\1", name)
    return _NAME_BY_ALIAS.get(name, name)


def build_literal_call(argv: tuple[str, ...], variables: tuple[str, ...] = ()) -> ProgramCall:
    """Build the call of a program that is started without a shell."""
    # An argument that contains the mark of unknown text must not count as unknown.
    return ProgramCall(words=tuple(ShellWord(text.replace(UNKNOWN_TEXT, "\ufffd")) for text in argv), sets=variables)


class CommandEffect(Struct, frozen=True, kw_only=True):
    """``classes`` are names of command classes; ``calls`` and ``scripts`` are analyzed in turn."""

    classes: tuple[str, ...] = ()
    calls: tuple[ProgramCall, ...] = ()
    scripts: tuple[ShellWord, ...] = ()
    reads: tuple[ShellWord, ...] = ()
    writes: tuple[ShellWord, ...] = ()
    removes: tuple[ShellWord, ...] = ()
    """Paths that are removed or moved with their contents."""
    hosts: tuple[str, ...] = ()
    moves_to: tuple[ShellWord, ...] = ()
    """The folder in which the next calls run."""
    fetches: tuple[str, ...] = ()
    """Names of the files that it downloads."""


NO_EFFECT = CommandEffect()
EffectAnalyzer = Callable[[ProgramCall], CommandEffect]
"""Analyzes the words of one program."""


def classify(*classes: str, when: object = True) -> CommandEffect:
    """Return the effect of these command classes; none unless ``when`` is true."""
    return CommandEffect(classes=classes) if when else NO_EFFECT


def merge_effects(*effects: CommandEffect) -> CommandEffect:
    """Combine effects: concatenate their lists without repeating classes."""
    lists = {name: sum((getattr(effect, name) for effect in effects), ()) for name in CommandEffect.__struct_fields__}
    return CommandEffect(**lists | {"classes": tuple(dict.fromkeys(lists["classes"]))})
