"""One program call of a command line, its effect as far as its words show, and its options and operands."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
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


_TRUE_VALUES = frozenset(("", "true", "yes", "1", "client", "server", "all"))
# The module that starts a program with an account. Its arguments are a folder, the account, `--`, the program.
ACCOUNT_LAUNCHER = "termvisor.accounts.launcher"
# Limits the readings of `kubectl -x a -y b …` with undeclared options.
_MAX_READINGS = 4


class ShellRedirect(Struct, frozen=True):
    """``direction`` is the data flow: into the program, out of it, or both."""

    direction: Literal["in", "out", "both"]
    word: ShellWord


class ProgramCall(Struct, frozen=True, kw_only=True):
    """``fed_by`` are the calls whose output it may read; ``input_text`` is a here-document or here-string."""

    words: tuple[ShellWord, ...] = ()
    sets: tuple[str, ...] = ()
    assigned: tuple[ShellWord, ...] = ()
    """The values of the variables that it sets."""
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
    links: tuple[tuple[ShellWord, ShellWord], ...] = ()
    """Names of created links, with what they point to."""
    fetches: tuple[str, ...] = ()
    """Names of downloaded files."""


NO_EFFECT = CommandEffect()
UNKNOWN_EFFECT = CommandEffect(classes=("unknown_effect",))


def classify(*classes: str, when: object = True) -> CommandEffect:
    """Return an effect with these command classes, or without any unless ``when`` is true."""
    return CommandEffect(classes=classes) if when else NO_EFFECT


def merge_effects(*effects: CommandEffect) -> CommandEffect:
    """Combine effects by concatenating their lists, without repeating classes."""
    some = [effect for effect in effects if effect != NO_EFFECT]
    if len(some) < 2:
        return some[0] if some else NO_EFFECT
    lists = {name: sum((getattr(effect, name) for effect in some), ()) for name in CommandEffect.__struct_fields__}
    return CommandEffect(**lists | {"classes": tuple(dict.fromkeys(lists["classes"]))})


class OptionSyntax(Struct, frozen=True):
    """The options of a program, declared as text: `-a -b= --long --name= *`.

    `=` follows options with a value, `=.` those whose value ends the options, `?` those whose value is attached.
    `*`: any other option is harmless. A name without dashes is one of `dd of=x`.
    """

    known: frozenset[str]
    valued: frozenset[str]
    attached: frozenset[str]
    final: frozenset[str]
    allows_any: bool

    def is_known(self, flag: str) -> bool:
        """Return True if the option is declared, or abbreviates a declared one."""
        if self.allows_any or flag in self.known:
            return True
        return any(_is_flag(flag, name) for name in self.known)

    def has_value(self, flag: str) -> bool:
        """Return True if the option, or one that it abbreviates, is declared with a value."""
        return flag in self.valued or (flag not in self.known and any(_is_flag(flag, name) for name in self.valued))


@lru_cache(1024)
def parse_syntax(text: str) -> OptionSyntax:
    names = [name for name in text.split() if name != "*"]
    known = frozenset(name.rstrip("=.?") for name in names)
    valued, attached, final = (
        frozenset(name.rstrip("=.?") for name in names if name.endswith(end)) for end in ("=", "?", "=.")
    )
    return OptionSyntax(known, valued | final, attached, final, "*" in text.split())


class ParsedOptions(Struct, frozen=True):
    """``flags`` as written, with combined letters split; ``rest`` is the first operand and everything after it."""

    flags: tuple[str, ...]
    values: dict[str, list[ShellWord]]
    operands: tuple[ShellWord, ...]
    rest: tuple[ShellWord, ...]
    unknown: tuple[str, ...] = ()
    """Options that are not declared."""
    is_ambiguous: bool = False
    """True if the first operand may be the value of an undeclared option before it."""

    def has(self, *names: str) -> bool:
        """Return True if any of the options is present. Long options may be abbreviated, as GNU programs allow."""
        return any(_is_flag(flag, name) for flag in dict.fromkeys(self.flags) for name in names)

    def find_value(self, *names: str) -> ShellWord | None:
        return next(reversed(self.find_values(*names)), None)

    def find_values(self, *names: str) -> tuple[ShellWord, ...]:
        matches = (values for flag, values in self.values.items() if any(_is_flag(flag, name) for name in names))
        return tuple(chain.from_iterable(matches))

    def is_dry_run(self, names: str) -> bool:
        """Return True if one of these options is given in full, and none is negated or set to false."""
        given = [name for name in names.split() if name in self.flags]
        off = [f"--no-{name.lstrip('-')}" for name in names.split()]
        values = {word.text.casefold() for word in self.find_values(*names.split())}
        return bool(given) and not self.has(*off) and values <= _TRUE_VALUES


EffectAnalyzer = Callable[[ProgramCall, ParsedOptions], CommandEffect]
"""Function that analyzes a call of one program with its options."""


def parse_options(words: Sequence[ShellWord], syntax: str = "", *, stops_at_operand: bool = False) -> ParsedOptions:
    """Parse as getopt does: `-rf`, `-u root`, `-uroot`, `--user=root`, `--`, `--rec`.

    With ``stops_at_operand`` the first operand ends the options.
    """
    spec = parse_syntax(syntax)
    flags: list[str] = []
    values: dict[str, list[ShellWord]] = {}
    operands: list[ShellWord] = []
    first, index, ambiguous, is_over = len(words), 0, -1, False
    while index < len(words) and not is_over:
        word = words[index]
        index += 1
        if word.text == "--":
            is_over = True
            flags.append("--")
        elif word.text == "-" or not (word.text.startswith("-") or word.text.partition("=")[0] in spec.valued):
            first = min(first, index - 1)
            operands.append(word)
            is_over = stops_at_operand
        else:
            word_flags, value = _split_flags(word, spec)
            flags += word_flags
            last = word_flags[-1]
            # The next word is the value, even if it looks like an option. After an abbreviation it may be one.
            if value is None and spec.has_value(last) and index < len(words):
                value = words[index]
                index += last in spec.valued
            if value is not None:
                values.setdefault(last, []).append(value)
            if last not in spec.known and "=" not in word.text:
                ambiguous = index
            is_over = last in spec.final
    first = min(first, index)
    operands += words[index:]
    unknown = tuple(flag for flag in dict.fromkeys(flags) if flag != "--" and not spec.is_known(flag))
    is_ambiguous = first == ambiguous < len(words)
    return ParsedOptions(tuple(flags), values, tuple(operands), tuple(words[first:]), unknown, is_ambiguous)


def iterate_readings(words: Sequence[ShellWord], syntax: str) -> Iterator[ParsedOptions]:
    """Parse the options before the first operand in every possible way: an undeclared option may take a value."""
    for _ in range(_MAX_READINGS):
        options = parse_options(words, syntax, stops_at_operand=True)
        yield options
        if not options.is_ambiguous:
            return
        words = options.rest[1:]


def _split_flags(word: ShellWord, spec: OptionSyntax) -> tuple[list[str], ShellWord | None]:
    """Return the flags in a word, and the value attached to the last one."""
    text = word.text
    name, equals, value = text.partition("=")
    # Some programs have long options with one dash: `terraform -chdir=x`.
    if not text.startswith("-") or text.startswith("--") or (len(name) > 2 and name in spec.known):
        return [name], (_cut_word(word, value) if equals else None)
    flags = []
    for index, letter in enumerate(text[1:], 1):
        flags.append(f"-{letter}")
        if flags[-1] in spec.valued | spec.attached:
            rest = text[index + 1 :]
            return flags, (_cut_word(word, rest) if rest else None)
    return flags, None


def _cut_word(word: ShellWord, text: str) -> ShellWord:
    return ShellWord(text, word.start, word.end, word.is_pattern)


def _is_flag(flag: str, name: str) -> bool:
    # GNU programs accept any unambiguous prefix of a long option, such as `--r` for `--recursive`.
    return flag == name or (len(flag) > 2 and flag.startswith("--") and name.startswith(flag))


def is_account_launch(call: ProgramCall) -> bool:
    """Return True if the call runs the account launcher module with a Python interpreter."""
    if call.words[0].text != sys.executable:  # another file of this name may do anything
        return False
    module = parse_options(call.arguments, "-m= -W= -X=", stops_at_operand=True).find_value("-m")
    return module is not None and module.text == ACCOUNT_LAUNCHER
