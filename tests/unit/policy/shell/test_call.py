import pytest

from termvisor.policy.shell.call import Call, Redirect, literal, program_name
from termvisor.policy.shell.word import HOLE, Word


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("rm", "rm"),
        ("/usr/bin/rm", "rm"),
        ("./RM", "rm"),
        ("=rm", "rm"),
        ("python3.11", "python"),
        ("pip3", "pip"),
        ("grm", "rm"),
        ("nodejs", "node"),
        ("mkfs.ext4", "mkfs.ext4"),
        ("cmd.exe", "cmd"),
        (f"r{HOLE}", ""),
        ("", ""),
    ],
)
def test_a_program_has_one_name(text: str, name: str) -> None:
    assert program_name(Word(text)) == name


def test_a_pattern_is_no_known_program() -> None:
    assert program_name(Word("/bin/r?", is_pattern=True)) == ""


def test_a_call_shows_what_it_would_run() -> None:
    call = Call(words=(Word("rm"), Word(f"{HOLE}/x")))
    assert (call.name, call.text, call.arguments[0].is_known) == ("rm", "rm …/x", False)
    assert Call().name == ""


def test_input_comes_from_a_pipe_a_text_or_a_file() -> None:
    assert not Call(redirects=(Redirect("out", Word("f")),)).reads_stdin
    assert Call(redirects=(Redirect("in", Word("f")),)).reads_stdin
    assert Call(given=Word("")).reads_stdin
    assert Call(fed_by=(Call(),)).reads_stdin


def test_words_that_no_shell_reads_hold_no_holes() -> None:
    assert literal(("a", HOLE), ("X",)) == Call(words=(Word("a"), Word("\ufffd")), sets=("X",))
