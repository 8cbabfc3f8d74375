"""One program call of a command line, its effect as far as its words show, and its options and operands."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
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
    """``direction`` is the data flow: into the program, out of it, or both."""

    direction: Literal["in", "out", "both"]
    word: ShellWord


class ProgramCall(Struct, frozen=True, kw_only=True):
    """``fed_by`` are the calls whose output it may read; ``input_text`` is a here-document or here-string."""

    words: tuple[ShellWord, ...] = ()
    sets: tuple[str, ...] = ()
    redirects: tuple[ShellRedirect, ...] = ()
    input_text: ShellWord | None = None
    fed_by: tuple[ProgramCall, ...] = ()
    substituted: tuple[ProgramCall, ...] = ()
    """The calls whose output becomes part of this call's words."""
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
    """Build the call for a program started without a shell."""
    # An argument that contains the marker for unknown text must not count as unknown.
    return ProgramCall(words=tuple(ShellWord(text.replace(UNKNOWN_TEXT, "\ufffd")) for text in argv), sets=variables)


class CommandEffect(Struct, frozen=True, kw_only=True):
    """``classes`` are command class names; ``calls`` and ``scripts`` are analyzed next."""

    classes: tuple[str, ...] = ()
    calls: tuple[ProgramCall, ...] = ()
    scripts: tuple[ShellWord, ...] = ()
    reads: tuple[ShellWord, ...] = ()
    writes: tuple[ShellWord, ...] = ()
    removes: tuple[ShellWord, ...] = ()
    """Paths removed or moved together with their contents."""
    hosts: tuple[str, ...] = ()
    moves_to: tuple[ShellWord, ...] = ()
    """The folder in which the following calls run."""
    fetches: tuple[str, ...] = ()
    """Names of downloaded files."""


NO_EFFECT = CommandEffect()
EffectAnalyzer = Callable[[ProgramCall], CommandEffect]
"""Function that analyzes a call of one program."""


def classify(*classes: str, when: object = True) -> CommandEffect:
    """Return an effect with these command classes, or without any unless ``when`` is true."""
    return CommandEffect(classes=classes) if when else NO_EFFECT


def merge_effects(*effects: CommandEffect) -> CommandEffect:
    """Combine effects by concatenating their lists, without repeating classes."""
    lists = {name: sum((getattr(effect, name) for effect in effects), ()) for name in CommandEffect.__struct_fields__}
    return CommandEffect(**lists | {"classes": tuple(dict.fromkeys(lists["classes"]))})


class ParsedOptions(Struct, frozen=True):
    """``flags`` as written, with combined letters split; ``rest`` is the first operand and everything after it."""

    flags: tuple[str, ...]
    values: dict[str, tuple[ShellWord, ...]]
    operands: tuple[ShellWord, ...]
    rest: tuple[ShellWord, ...]

    def has(self, *names: str) -> bool:
        """Return True if any of the options is present. Long options may be abbreviated, as GNU programs allow."""
        return any(_is_flag(flag, name) for flag in self.flags for name in names)

    def find_value(self, *names: str) -> ShellWord | None:
        return next(
            (values[-1] for flag, values in self.values.items() for name in names if _is_flag(flag, name)), None
        )

    def find_values(self, *names: str) -> tuple[ShellWord, ...]:
        return sum((values for flag, values in self.values.items() for name in names if _is_flag(flag, name)), ())


def parse_options(
    words: Sequence[ShellWord], options_with_value: str = "", *, stops_at_operand: bool = False
) -> ParsedOptions:
    """Parse as getopt does: `-rf`, `-u root`, `-uroot`, `--user=root`, `--`, `--rec`.

    With ``stops_at_operand`` the first operand ends the options.
    """
    valued = frozenset(options_with_value.split())
    flags: list[str] = []
    values: dict[str, tuple[ShellWord, ...]] = {}
    operands: list[ShellWord] = []
    first, index = len(words), 0
    while index < len(words):
        text = words[index].text
        if text == "--":
            first = min(first, index + 1)
            operands += words[index + 1 :]
            break
        if not text.startswith("-") or text == "-":
            first = min(first, index)
            operands.append(words[index])
            if stops_at_operand:
                operands += words[index + 1 :]
                break
        else:
            word_flags, value = _split_flags(words[index], valued)
            flags += word_flags
            last = word_flags[-1]
            # The next word is the value, even if it looks like an option.
            if value is None and last in valued and index + 1 < len(words):
                index += 1
                value = words[index]
            if value is not None:
                values[last] = (*values.get(last, ()), value)
        index += 1
    return ParsedOptions(tuple(flags), values, tuple(operands), tuple(words[first:]))


def _split_flags(word: ShellWord, valued: frozenset[str]) -> tuple[list[str], ShellWord | None]:
    """Return the flags in a word, and the value attached to the last one."""
    text = word.text
    if text.startswith("--"):
        name, equals, value = text.partition("=")
        return [name], (_cut_word(word, value) if equals else None)
    flags = []
    for index, letter in enumerate(text[1:], 1):
        flags.append(f"-{letter}")
        if flags[-1] in valued:
            rest = text[index + 1 :]
            return flags, (_cut_word(word, rest) if rest else None)
    return flags, None


def _cut_word(word: ShellWord, text: str) -> ShellWord:
    return ShellWord(text, word.start, word.end, word.is_pattern)


def _is_flag(flag: str, name: str) -> bool:
    # GNU programs accept any unambiguous prefix of a long option, such as `--rec` for `--recursive`.
    return flag == name or (flag.startswith("--") and len(flag) > 3 and name.startswith(flag))
