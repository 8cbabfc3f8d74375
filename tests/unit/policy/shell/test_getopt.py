from termvisor.policy.shell.call import ParsedOptions, parse_options
from termvisor.policy.shell.word import ShellWord


def parse_line(line: str, valued: str = "", *, is_prefix: bool = False) -> ParsedOptions:
    return parse_options([ShellWord(text) for text in line.split()], valued, stops_at_operand=is_prefix)


def list_texts(words: tuple[ShellWord, ...]) -> list[str]:
    return [word.text for word in words]


def test_combined_letters_are_separate_flags() -> None:
    found = parse_line("-rf a -v b")
    assert (found.flags, list_texts(found.operands)) == (("-r", "-f", "-v"), ["a", "b"])


def test_value_follows_its_option_or_is_attached() -> None:
    for line in ("-u root x", "-uroot x", "--user root x", "--user=root x", "-nu root x"):
        found = parse_line(line, "-u= --user=")
        value = found.find_value("-u", "--user")
        assert (value and value.text, list_texts(found.operands)) == ("root", ["x"])


def test_every_value_is_kept_and_the_last_one_counts() -> None:
    found = parse_line("-e a -e b", "-e=")
    assert (list_texts(found.find_values("-e")), found.find_value("-e")) == (["a", "b"], ShellWord("b"))
    assert found.find_value("-f") is None


def test_after_a_double_dash_there_are_only_operands() -> None:
    found = parse_line("-a -- -b c")
    assert (found.flags, list_texts(found.operands)) == (("-a", "--"), ["-b", "c"])


def test_a_wrapper_ends_its_options_at_the_first_operand() -> None:
    found = parse_line("-n 5 rm -rf x", "-n=", is_prefix=True)
    assert (found.flags, list_texts(found.rest)) == (("-n",), ["rm", "-rf", "x"])
    assert list_texts(parse_line("-n -- rm", "", is_prefix=True).rest) == ["rm"]


def test_a_long_option_may_be_abbreviated() -> None:
    found = parse_line("--recurs --no-pres")
    assert found.has("--recursive")
    assert not found.has("--force")
    assert not parse_line("--").has("--force")


def test_a_dash_alone_is_an_operand() -> None:
    assert list_texts(parse_line("- a").operands) == ["-", "a"]
