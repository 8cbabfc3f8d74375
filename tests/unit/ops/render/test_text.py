import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.ops.render.text import (
    RenderOptions,
    TableColumn,
    escape_markdown,
    format_age,
    format_bytes,
    measure_width,
    pluralize,
    render_code_block,
    render_diff,
    render_table,
    sanitize,
    sanitize_keep_colours,
    sanitize_lines,
    shorten,
    wrap_text,
)

COLUMNS = (
    TableColumn("ID", lambda row: str(row[0]), is_right_aligned=True),
    TableColumn("NAME", lambda row: row[1], can_shrink=True, style="cyan"),
    TableColumn("NOTE", lambda row: row[2], can_shrink=True),
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
    ],
)
def test_text_that_does_not_fit_is_shortened(text: str, room: int, short: str) -> None:
    assert shorten(text, room) == short


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


def test_a_table_is_aligned_by_display_width() -> None:
    rows = [(1, "日本", "x"), (22, "a", "y")]
    assert render_table(COLUMNS, rows, RenderOptions(width=0)) == "ID  NAME  NOTE\n 1  日本  x\n22  a     y"


def test_a_table_shortens_its_flexible_columns() -> None:
    rows = [(1, "a" * 30, "b" * 20)]
    lines = render_table(COLUMNS, rows, RenderOptions(width=32)).split("\n")
    assert max(map(measure_width, lines)) == 32
    assert "…" in lines[1]
    assert lines[1].startswith(" 1  ")


def test_a_table_never_exceeds_a_tiny_terminal() -> None:
    assert (
        max(map(measure_width, render_table(COLUMNS, [(1, "a" * 30, "b" * 20)], RenderOptions(width=10)).split("\n")))
        == 10
    )


def test_colour_is_used_only_if_enabled() -> None:
    rows = [(1, "name", "note")]
    assert "\x1b" not in render_table(COLUMNS, rows, RenderOptions(width=80))
    assert "\x1b[36mname\x1b[0m" in render_table(COLUMNS, rows, RenderOptions(width=80, colour=True))


def test_quiet_tables_have_no_titles_and_empty_tables_no_output() -> None:
    assert render_table(COLUMNS, [(1, "n", "o")], RenderOptions(is_quiet=True)) == "1  n  o"
    assert render_table(COLUMNS, [], RenderOptions()) == ""


def test_a_cell_cannot_forge_a_row() -> None:
    assert render_table(COLUMNS, [(1, "a\nroot  ok", "\x1b[1A")], RenderOptions(width=0)).count("\n") == 1


def test_markdown_cells_are_escaped() -> None:
    options = RenderOptions(format="markdown")
    assert (
        render_table(COLUMNS, [(1, "a|b", "*x*")], options)
        == "| ID | NAME | NOTE |\n|--:|---|---|\n| 1 | a\\|b | \\*x\\* |"
    )
    assert escape_markdown("[x](y)") == "\\[x\\](y)"


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


def test_a_cell_may_have_a_style_of_its_own() -> None:
    columns = (TableColumn("N", str, choose_style=lambda number: "red" if number > 1 else ""),)
    assert render_table(columns, [1, 2], RenderOptions(colour=True, is_quiet=True)) == "1\n\x1b[31m2\x1b[0m"


def test_optional_columns_are_dropped_from_the_last_if_space_is_short() -> None:
    columns = (
        TableColumn("A", lambda _item: "aaaa"),
        TableColumn("B", lambda _item: "bbbb", is_optional=True),
        TableColumn("C", lambda _item: "cccc" * 5, can_shrink=True, min_width=6),
        TableColumn("D", lambda _item: "dddd", is_optional=True),
    )
    heads = {
        width: render_table(columns, [1], RenderOptions(width=width)).split("\n")[0].split() for width in (60, 20, 12)
    }
    assert heads == {60: ["A", "B", "C", "D"], 20: ["A", "B", "C"], 12: ["A", "C"]}
    assert render_table(columns, [1], RenderOptions(width=12)).split("\n")[1] == "aaaa  ccccc…"


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
