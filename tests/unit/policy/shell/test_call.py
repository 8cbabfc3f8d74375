import pytest

from termvisor.policy.shell.call import (
    NO_EFFECT,
    CommandEffect,
    ProgramCall,
    ShellRedirect,
    build_literal_call,
    get_program_name,
    merge_effects,
)
from termvisor.policy.shell.word import UNKNOWN_TEXT, ShellWord


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
        (f"r{UNKNOWN_TEXT}", ""),
        ("", ""),
    ],
)
def test_a_program_has_one_name(text: str, name: str) -> None:
    assert get_program_name(ShellWord(text)) == name


def test_a_pattern_is_not_a_known_program() -> None:
    assert get_program_name(ShellWord("/bin/r?", is_pattern=True)) == ""


def test_a_call_has_name_and_readable_text() -> None:
    call = ProgramCall(words=(ShellWord("rm"), ShellWord(f"{UNKNOWN_TEXT}/x")))
    assert (call.name, call.text, call.arguments[0].is_known) == ("rm", "rm …/x", False)
    assert ProgramCall().name == ""


def test_input_comes_from_a_pipe_a_text_or_a_file() -> None:
    assert not ProgramCall(redirects=(ShellRedirect("out", ShellWord("f")),)).reads_stdin
    assert ProgramCall(redirects=(ShellRedirect("in", ShellWord("f")),)).reads_stdin
    assert ProgramCall(input_text=ShellWord("")).reads_stdin
    assert ProgramCall(fed_by=(ProgramCall(),)).reads_stdin


def test_argv_cannot_contain_the_unknown_text_mark() -> None:
    assert build_literal_call(("a", UNKNOWN_TEXT), ("X",)) == ProgramCall(
        words=(ShellWord("a"), ShellWord("\ufffd")), sets=("X",)
    )


def test_effects_are_merged_and_classes_are_unique() -> None:
    both = merge_effects(
        CommandEffect(classes=("disk",), writes=(ShellWord("a"),), hosts=("x",)),
        CommandEffect(classes=("disk", "delete"), writes=(ShellWord("b"),), moves_to=(ShellWord("c"),)),
    )
    expected = CommandEffect(
        classes=("disk", "delete"), writes=(ShellWord("a"), ShellWord("b")), hosts=("x",), moves_to=(ShellWord("c"),)
    )
    assert both == expected


def test_merging_no_effects_gives_no_effect() -> None:
    assert merge_effects(NO_EFFECT, NO_EFFECT) == NO_EFFECT
