from termvisor.policy.shell.getopt import ParsedOptions, parse_options
from termvisor.policy.shell.word import ShellWord


def options(line: str, valued: str = "", *, is_prefix: bool = False) -> ParsedOptions:
    return parse_options([ShellWord(text) for text in line.split()], valued, stops_at_operand=is_prefix)


def texts(words: tuple[ShellWord, ...]) -> list[str]:
    return [word.text for word in words]


def test_combined_letters_are_separate_flags() -> None:
    found = options("-rf a -v b")
    assert (found.flags, texts(found.operands)) == (("-r", "-f", "-v"), ["a", "b"])


def test_value_follows_its_option_or_is_attached() -> None:
    for line in ("-u root x", "-uroot x", "--user root x", "--user=root x", "-nu root x"):
        found = options(line, "-u --user")
        value = found.find_value("-u", "--user")
        assert (value and value.text, texts(found.operands)) == ("root", ["x"])


def test_every_value_is_kept_and_the_last_one_counts() -> None:
    found = options("-e a -e b", "-e")
    assert (texts(found.find_values("-e")), found.find_value("-e")) == (["a", "b"], ShellWord("b"))
    assert found.find_value("-f") is None


def test_behind_two_dashes_there_are_only_operands() -> None:
    found = options("-a -- -b c")
    assert (found.flags, texts(found.operands)) == (("-a",), ["-b", "c"])


def test_a_wrapper_ends_its_options_at_the_first_operand() -> None:
    found = options("-n 5 rm -rf x", "-n", is_prefix=True)
    assert (found.flags, texts(found.rest)) == (("-n",), ["rm", "-rf", "x"])
    assert texts(options("-n -- rm", "", is_prefix=True).rest) == ["rm"]


def test_a_long_option_may_be_cut_short() -> None:
    found = options("--recurs --no-pres")
    assert found.has("--recursive")
    assert not found.has("--force")
    assert not options("--").has("--force")


def test_a_dash_alone_is_an_operand() -> None:
    assert texts(options("- a").operands) == ["-", "a"]
