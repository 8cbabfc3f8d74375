"""Parse options and operands as getopt does: `-rf`, `-u root`, `-uroot`, `--user=root`, `--`, `--rec`."""

from collections.abc import Sequence

from msgspec import Struct

from termvisor.policy.shell.word import ShellWord


class ParsedOptions(Struct, frozen=True):
    """``flags`` as written, single letters separated; ``rest`` is the first operand and everything after it."""

    flags: tuple[str, ...]
    values: dict[str, tuple[ShellWord, ...]]
    operands: tuple[ShellWord, ...]
    rest: tuple[ShellWord, ...]

    def has(self, *names: str) -> bool:
        """Return True if one of the options is present. A long option may be abbreviated, as GNU programs allow."""
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
    """Parse words; with ``stops_at_operand`` the first operand ends the options."""
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
            # The value is the next word, whatever it looks like.
            if value is None and last in valued and index + 1 < len(words):
                index += 1
                value = words[index]
            if value is not None:
                values[last] = (*values.get(last, ()), value)
        index += 1
    return ParsedOptions(tuple(flags), values, tuple(operands), tuple(words[first:]))


def _split_flags(word: ShellWord, valued: frozenset[str]) -> tuple[list[str], ShellWord | None]:
    """Return the flags of one word, and the value attached to the last of them."""
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
