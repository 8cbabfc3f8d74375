"""Options and operands of a call, as getopt reads them: `-rf`, `-u root`, `-uroot`, `--user=root`, `--`, `--rec`."""

from collections.abc import Sequence

from msgspec import Struct

from termvisor.policy.shell.word import ShellWord


class ParsedOptions(Struct, frozen=True):
    """``flags`` as written, single letters apart; ``rest`` is where the first operand and all behind it begin."""

    flags: tuple[str, ...]
    values: dict[str, tuple[ShellWord, ...]]
    operands: tuple[ShellWord, ...]
    rest: tuple[ShellWord, ...]

    def has(self, *names: str) -> bool:
        """Whether one of them was given. A long option may be cut short, as GNU programs allow."""
        return any(_is_flag(flag, name) for flag in self.flags for name in names)

    def find_value(self, *names: str) -> ShellWord | None:
        return next(
            (values[-1] for flag, values in self.values.items() for name in names if _is_flag(flag, name)), None
        )

    def find_values(self, *names: str) -> tuple[ShellWord, ...]:
        found = (values for flag, values in self.values.items() for name in names if _is_flag(flag, name))
        return sum(found, ())


def parse_options(
    words: Sequence[ShellWord], options_with_value: str = "", *, stops_at_operand: bool = False
) -> ParsedOptions:
    """``valued`` are the options that take a value. With ``is_prefix`` the first operand ends the options."""
    takes = frozenset(options_with_value.split())
    flags: list[str] = []
    values: dict[str, tuple[ShellWord, ...]] = {}
    operands: list[ShellWord] = []
    first, at = len(words), 0
    while at < len(words):
        text = words[at].text
        if text == "--":
            first = min(first, at + 1)
            operands += words[at + 1 :]
            break
        if not text.startswith("-") or text == "-":
            first = min(first, at)
            operands.append(words[at])
            if stops_at_operand:
                operands += words[at + 1 :]
                break
        else:
            found, value = _split_flags(words[at], takes)
            flags += found
            if value is None and found[-1] in takes and at + 1 < len(words):
                at += 1
                value = words[at]
            if value is not None:
                values[found[-1]] = (*values.get(found[-1], ()), value)
        at += 1
    return ParsedOptions(tuple(flags), values, tuple(operands), tuple(words[first:]))


def _split_flags(word: ShellWord, takes: frozenset[str]) -> tuple[list[str], ShellWord | None]:
    """The flags of one word, and the value that is stuck to the last of them."""
    text = word.text
    if text.startswith("--"):
        name, sign, value = text.partition("=")
        return [name], (_cut_word(word, value) if sign else None)
    flags = []
    for at, letter in enumerate(text[1:], 1):
        flags.append(f"-{letter}")
        if flags[-1] in takes:
            rest = text[at + 1 :]
            return flags, (_cut_word(word, rest) if rest else None)
    return flags, None


def _cut_word(word: ShellWord, text: str) -> ShellWord:
    return ShellWord(text, word.start, word.end, word.is_pattern)


def _is_flag(flag: str, name: str) -> bool:
    return flag == name or (flag.startswith("--") and len(flag) > 3 and name.startswith(flag))
