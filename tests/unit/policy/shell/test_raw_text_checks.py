import pytest

from termvisor.policy.shell.raw_text_checks import has_hidden_text, has_history_expansion, replace_control_chars


@pytest.mark.parametrize("sign", ["\x00", "\x03", "\x1b", "\x7f", "\x9b", "\u200b", "\u202e", "\u2066", "\ufeff"])
def test_invisible_characters_are_found(sign: str) -> None:
    assert has_hidden_text(f"a{sign}b")


@pytest.mark.parametrize("sign", ["\ud800", "\U000e0041", "\ue00f"])
def test_surrogates_and_mask_characters_are_found(sign: str) -> None:
    assert has_hidden_text(f"a{sign}b")


@pytest.mark.parametrize("text", ["ls\n\tx\r\n", "é ü 漢字 😀 👩\u200d💻", "a\xa0b"])
def test_ordinary_text_hides_nothing(text: str) -> None:
    assert not has_hidden_text(text)


def test_a_control_character_ends_a_line_and_nothing_moves() -> None:
    assert replace_control_chars("ls\x03rm\r\x1bx\ud800\ue000") == "ls\nrm\n\nx\ufffd\ufffd"


@pytest.mark.parametrize("text", ["!!", "!rm", "echo !$", '"a!b"', "ls; !-2", "^a^b", "ls\n^a^b", "it's \\' !x"])
def test_history_expansion_is_found(text: str) -> None:
    assert has_history_expansion(text)


@pytest.mark.parametrize(
    "text", ["! ls", "[ a != b ]", "echo hi!", '"hi!"', "'!x'", "$!", "${!x}", "[!a]*", "\\!x", "ls !(a)", "a^b"]
)
def test_other_exclamation_marks_are_harmless(text: str) -> None:
    assert not has_history_expansion(text)
