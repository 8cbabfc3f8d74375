import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.clock import NS
from termvisor.ops.render.text import (
    RenderOptions,
    format_age,
    format_bytes,
    format_moment,
    format_time,
    measure_width,
    pluralize,
    render_code_block,
    render_diff,
    sanitize,
    sanitize_keep_colours,
    sanitize_lines,
    shorten,
    shorten_home,
    shorten_middle,
    wrap_lines,
    wrap_text,
)


@pytest.mark.parametrize(
    ("hostile", "harmless"),
    [
        ("\x1b[2J\x1b[31mred\x1b[0m", "red"),
        ("a\x1b]52;c;ZXZpbA==\x07b", "ab"),
        ("a\x1b]0;title\x1b\\b", "ab"),
        ("\x1bPq...\x1b\\x", "x"),
        ("one\r\ntwo\tthree", "one two three"),
        ("a\x9b31mb", "ab"),
        ("\u202eevil\u2066", "evil"),
        ("bell\x07 del\x7f nul\x00", "bell del nul"),
        ("lone\ud800", "lone"),
        ("half \x1b[", "half "),
        ("日本語 ✳ é", "日本語 ✳ é"),
    ],
)
def test_control_sequences_are_removed(hostile: str, harmless: str) -> None:
    assert sanitize(hostile) == harmless


def test_clean_lines_keeps_lines_and_tabs() -> None:
    assert sanitize_lines("a\tb\x1b[1m\r\nc\x07") == "a\tb\nc"


def test_colours_are_kept_up_to_the_end_of_the_line() -> None:
    assert sanitize_keep_colours("\x1b[1;31mred\x1b]0;x\x07\x1b[2K end") == "\x1b[1;31mred end\x1b[0m"
    assert sanitize_keep_colours("plain") == "plain"


@pytest.mark.parametrize(("text", "count"), [("abc", 3), ("日本", 4), ("é", 1), ("e\u0301", 1), ("", 0), ("✳", 1)])
def test_wide_and_combining_characters_are_measured_by_display_width(text: str, count: int) -> None:
    assert measure_width(text) == count


@pytest.mark.parametrize(
    ("text", "room", "short"),
    [
        ("hello", 5, "hello"),
        ("hello", 4, "hel…"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("ab", 1, "…"),
        ("ab", 0, ""),
        ("fix the tests", 11, "fix the…"),
        ("fix the tests", 8, "fix the…"),
        ("a considerable", 8, "a consi…"),
    ],
)
def test_text_that_does_not_fit_is_shortened(text: str, room: int, short: str) -> None:
    assert shorten(text, room) == short


@pytest.mark.parametrize(
    ("path", "room", "short"),
    [
        ("~/work/termvisor", 16, "~/work/termvisor"),
        ("~/work/clients/acme/importer", 20, "~/work/…/importer"),
        ("~/work/clients/acme/importer", 13, "~/…/importer"),
        ("~/work/clients/acme/importer", 8, "…mporter"),
        ("/averylongname", 6, "…gname"),
        ("/a", 0, ""),
    ],
)
def test_a_folder_is_shortened_in_the_middle(path: str, room: int, short: str) -> None:
    assert shorten_middle(path, room) == short


def test_a_terminal_shows_home_as_a_tilde_and_times_as_ages() -> None:
    terminal = RenderOptions(width=80, now=1_767_268_800 * NS, home="/home/me")
    assert [shorten_home(path, terminal) for path in ("/home/me", "/home/me/a", "/home/me-too")] == [
        "~",
        "~/a",
        "/home/me-too",
    ]
    assert [format_time(at, terminal) for at in ("2026-01-01T11:58:00Z", "2026-01-01T13:00:00Z", "open", "")] == [
        "2m ago",
        "in 1h",
        "open",
        "",
    ]
    assert format_moment("2026-01-01T11:58:00Z", terminal) == "2m ago"


def test_a_pipe_gets_folders_and_times_in_full() -> None:
    pipe = RenderOptions(width=0, home="/home/me")
    assert shorten_home("/home/me/a", pipe) == "/home/me/a"
    assert format_time("2026-01-01T11:58:00Z", pipe) == "2026-01-01T11:58:00Z"
    assert format_moment("2026-01-01T11:58:00Z", pipe) == "at 2026-01-01T11:58:00Z"


@pytest.mark.parametrize(
    ("seconds", "text"), [(None, "-"), (-3, "0s"), (59.9, "59s"), (60, "1m"), (3600, "1h"), (200_000, "2d")]
)
def test_ages_are_short(seconds: float | None, text: str) -> None:
    assert format_age(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (999, "999 B"), (1000, "1.0 KB"), (123_456, "123 KB"), (5e12, "5000 GB")]
)
def test_sizes_are_short(count: float, text: str) -> None:
    assert format_bytes(count) == text


def test_a_markdown_fence_is_longer_than_the_fences_in_its_text() -> None:
    assert render_code_block("a\n```\nb", RenderOptions(format="markdown")) == "````text\na\n```\nb\n````"
    assert render_code_block("a", RenderOptions()) == "a"


def test_nouns_are_pluralized_by_their_count() -> None:
    assert [pluralize(number, "pane") for number in (0, 1, 2)] == ["0 panes", "1 pane", "2 panes"]


def test_a_diff_contains_only_its_own_colours() -> None:
    text = "@@ one @@\n+new\x1b[8m\n-old\n as before"
    assert render_diff(text, RenderOptions()) == "@@ one @@\n+new\n-old\n as before"
    painted = render_diff(text, RenderOptions(colour=True))
    assert painted.split("\n")[1:3] == ["\x1b[32m+new\x1b[0m", "\x1b[31m-old\x1b[0m"]


PAGE = """A first line that was
broken by hand.

arguments:
  <pane>        The pane; any reference that names one of them.
  --at <at>     Begin here.

- an item that is rather long
- another"""


def test_paragraphs_are_wrapped_and_columns_are_indented() -> None:
    assert (
        wrap_text(PAGE, 38)
        == """A first line that was broken by hand.

arguments:
  <pane>        The pane; any
                reference that names
                one of them.
  --at <at>     Begin here.

- an item that is rather long
- another"""
    )


def test_a_narrow_width_wraps_between_words() -> None:
    assert wrap_text("- a word after another", 10) == "- a word\n  after\n  another"


def test_without_a_width_text_is_not_wrapped() -> None:
    assert wrap_text(PAGE, 0) == PAGE


@given(st.text("ab -:\n"), st.integers(1, 90))
def test_wrapping_keeps_every_word(text: str, width: int) -> None:
    assert wrap_text(text, width).split() == text.split()


@pytest.mark.parametrize(
    ("line", "folded"),
    [
        ("one two three four", "one two three\nfour"),
        ("ok  is almost full", "ok  is almost\n    full"),
        ("  a long command  and what", "  a long\n      command\n      and what"),
        ("\x1b[31mone two three four\x1b[0m", "\x1b[31mone two three\nfour\x1b[0m"),
        ("see /a/path/without/spaces", "see\n/a/path/without/spaces"),
        ("日本 日本 日本 日本", "日本 日本 日本\n日本"),
    ],
)
def test_lines_are_folded_at_spaces(line: str, folded: str) -> None:
    assert wrap_lines(line, 14) == folded


@given(st.text("ab -\x1b[1m", max_size=80), st.integers(1, 90))
def test_folding_changes_only_white_space(text: str, width: int) -> None:
    assert wrap_lines(text, width).split() == text.split()
