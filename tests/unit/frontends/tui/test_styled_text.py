import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from termvisor.frontends.tui.styled_text import STYLES, build_strip, parse_colored_row, strip_controls

HOSTILE = (
    "\x1b]52;c;cm0gLXJmIH4=\x07",
    "\x1b]0;owned\x1b\\",
    "\x1bP1$r0m\x1b\\",
    "\x9b31m",
    "\x9d52;c;AAAA\x9c",
    "\x90q\x9c",
    "\x1b[2J\x1b[H",
    "\x1b[?1049l",
    "\x1b[6n",
    "\x1bc",
    "\u202e\u2066\u200b\ufeff\U000e0041",
    "\x07\x08\x0d\x7f",
)


def read_row(row: str) -> str:
    return "".join(segment.text for segment in parse_colored_row(row))


def test_only_text_remains_of_hostile_sequences() -> None:
    for sequence in HOSTILE:
        assert strip_controls(f"a{sequence}b") == "ab", repr(sequence)
        assert read_row(f"a{sequence}b") == "ab", repr(sequence)


@given(
    st.lists(st.sampled_from([*HOSTILE, "\x1b", "x", "\x1b[31m", "\x1b[", "[bold]", "é漢"]), max_size=12).map("".join)
)
def test_no_mix_of_sequences_leaves_a_control_character(text: str) -> None:
    for cleaned in (strip_controls(text), read_row(text)):
        assert not [char for char in cleaned if unicodedata.category(char) in ("Cc", "Cf", "Cs")]


@given(st.text(max_size=60))
def test_any_text_is_cleaned_and_cleaning_again_changes_nothing(text: str) -> None:
    cleaned = strip_controls(text)
    assert strip_controls(cleaned) == cleaned
    assert not [char for char in cleaned if unicodedata.category(char) in ("Cc", "Cs")]


def test_colours_are_kept_and_hidden_text_is_shown() -> None:
    row = parse_colored_row("\x1b[1;31mred\x1b[0m plain \x1b[38;5;208;48;2;1;2;3mrich\x1b[39;49m \x1b[8mhidden")
    red, plain, rich, _, hidden = row
    assert (red.style.bold, red.style.color.number, plain.style.color) == (True, 1, None)
    assert (rich.style.color.number, tuple(rich.style.bgcolor.triplet)) == (208, (1, 2, 3))
    assert (hidden.text, hidden.style.conceal) == ("hidden", None)


@given(st.text("0123456789;:", max_size=30))
def test_any_colour_sequence_is_accepted(codes: str) -> None:
    assert read_row(f"\x1b[{codes}mtext") == "text"


def test_markup_is_text() -> None:
    strip = build_strip([("[red]not markup[/]", "")], 30, STYLES)
    assert strip.text == "[red]not markup[/]".ljust(30)
