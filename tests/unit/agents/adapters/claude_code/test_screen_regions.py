"""Regions of Claude Code screens."""

from hypothesis import given
from hypothesis import strategies as st

from termvisor.agents.adapters.claude_code.screen_regions import EMPTY_LAYOUT, parse_layout
from tests.unit.agents.adapters.claude_code.claude_inputs import HORIZONTAL_RULE, build_composer_screen, build_screen

ROWS = st.lists(
    st.sampled_from(["", HORIZONTAL_RULE, "❯ x", "  foot", " Do you want to proceed?", " ❯ 1. Yes", "● a", "$ ", "x"])
)


def test_a_composer_has_a_footer_below_and_blocks_above() -> None:
    parts = parse_layout(
        build_composer_screen("❯ do it", "", "● done", "  with more", "                hint", typed="next")
    )
    assert parts.composer == ("❯ next",)
    assert parts.footer == ("  ⏸ manual mode on · ? for shortcuts",)
    assert parts.blocks == (("● done", "  with more"), ("❯ do it",))
    assert parts.dialog == ()


def test_a_composer_may_have_many_rows() -> None:
    parts = parse_layout(build_screen(HORIZONTAL_RULE, "❯ one", "  two", "", "  three", HORIZONTAL_RULE, "  foot"))
    assert parts.composer == ("❯ one", "  two", "", "  three")


def test_where_another_program_writes_below_there_are_no_parts() -> None:
    assert parse_layout(build_screen(HORIZONTAL_RULE, "❯", HORIZONTAL_RULE, "  ⏸ manual mode on", "$ ")) == EMPTY_LAYOUT
    assert (
        parse_layout(build_screen("● words", HORIZONTAL_RULE, "❯", "dev@host:~$ ls", HORIZONTAL_RULE, "  foot"))
        == EMPTY_LAYOUT
    )


def test_a_dialog_reaches_from_its_line_to_the_end() -> None:
    parts = parse_layout(
        build_screen("● words", HORIZONTAL_RULE, " Do it?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel", "")
    )
    assert parts.dialog == (" Do it?", " ❯ 1. Yes", "   2. No", " Esc to cancel")
    assert parts.composer is None


SIGN_IN = (
    "❯ /login",
    HORIZONTAL_RULE,
    "  Login",
    "",
    "  Browser didn't open? Use the url below to sign in (c to copy)",
    "",
    "https://claude.com/cai/oauth/authorize?code=true&client_id=9d1c250a-e61b-44d9-88ed-5944d1962f5e&response_type=code",
    "&redirect_uri=https%3A%2F%2Fplatform.claude.com%2Foauth%2Fcode%2Fcallback&state=XxFYus_yDgLvy31Yh9cH3k5puH",
    "",
    "  Paste code here if prompted >",
    "",
    "  Esc to cancel",
)
"""As 2.1.325 shows it."""


def test_a_page_that_offers_no_choice_is_a_dialog_too() -> None:
    parts = parse_layout(build_screen(*SIGN_IN))
    assert (parts.dialog[0], parts.dialog[-1]) == ("  Login", "  Esc to cancel")
    assert parse_layout(build_screen(*SIGN_IN, "$ ")) == EMPTY_LAYOUT


def test_an_empty_screen_has_no_parts() -> None:
    assert parse_layout(build_screen()) == parse_layout(build_screen("", "")) == EMPTY_LAYOUT


@given(ROWS)
def test_there_is_a_composer_or_a_dialog_and_never_both(rows: list[str]) -> None:
    parts = parse_layout(build_screen(*rows))
    assert parts.composer is None or parts.dialog == ()
    assert len(parts.blocks) <= 3
