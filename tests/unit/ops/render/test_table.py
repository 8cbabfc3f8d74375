import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.clock import NS
from termvisor.ops.render.table import TableColumn, render_table
from termvisor.ops.render.text import RenderOptions, escape_markdown, measure_width, wrap_lines

COLUMNS = (
    TableColumn("ID", lambda row: str(row[0]), is_right_aligned=True),
    TableColumn("NAME", lambda row: row[1], can_shrink=True, style="cyan"),
    TableColumn("NOTE", lambda row: row[2], can_shrink=True),
)


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


def test_a_cell_may_have_a_style_of_its_own() -> None:
    columns = (TableColumn("N", str, choose_style=lambda number: "red" if number > 1 else ""),)
    assert render_table(columns, [1, 2], RenderOptions(colour=True, is_quiet=True)) == "1\n\x1b[31m2\x1b[0m"


def test_no_value_has_no_warning_colour() -> None:
    columns = (TableColumn("GAPS", lambda number: str(number or "-"), style="yellow"),)
    rows = render_table(columns, [0, 2], RenderOptions(colour=True, is_quiet=True)).split("\n")
    assert rows == ["\x1b[2m-\x1b[0m", "\x1b[33m2\x1b[0m"]


WORTH_COLUMNS = (
    TableColumn("A", lambda _item: "aaaa"),
    TableColumn("B", lambda _item: "bbbb", worth=2),
    TableColumn("C", lambda _item: "cccc" * 5, can_shrink=True, min_width=6),
    TableColumn("D", lambda _item: "dddd", worth=1),
    TableColumn("E", lambda _item: "-", worth=8),
    TableColumn("F", lambda _item: "ffff", worth=1),
)


@pytest.mark.parametrize(
    ("width", "titles"),
    [
        (60, "A B C D E F"),
        (30, "A B C D F"),
        (29, "A B C D"),
        (24, "A B C D"),
        (20, "A B C"),
        (12, "A C"),
    ],
)
def test_columns_without_values_and_of_the_lowest_worth_are_dropped_first(width: int, titles: str) -> None:
    assert render_table(WORTH_COLUMNS, [1], RenderOptions(width=width)).split("\n")[0].split() == titles.split()


def test_a_table_says_how_to_see_the_columns_that_were_dropped() -> None:
    assert render_table(WORTH_COLUMNS, [1], RenderOptions(width=26)).split("\n")[-1] == "(2 more columns: --wide)"
    assert "--wide" not in render_table(WORTH_COLUMNS, [1], RenderOptions(width=60))
    assert render_table(WORTH_COLUMNS, [1], RenderOptions(width=12, is_quiet=True)) == "aaaa  ccccc…"


def test_a_folder_and_a_time_are_short_in_a_terminal_only() -> None:
    columns = (
        TableColumn("CWD", lambda item: item[0], can_shrink=True, kind="folder"),
        TableColumn("AT", lambda item: item[1], kind="time"),
    )
    items = [("/home/me/work/clients/acme/importer", "2026-01-01T11:58:00.000Z")]
    terminal = RenderOptions(width=27, now=1_767_268_800 * NS, home="/home/me", is_quiet=True)
    assert render_table(columns, items, terminal) == "~/work/…/importer    2m ago"
    assert render_table(columns, items, RenderOptions(width=0, home="/home/me", is_quiet=True)) == "  ".join(items[0])


def test_a_sentence_is_folded_below_itself() -> None:
    columns = (
        TableColumn("FIELD", lambda fact: fact[0]),
        TableColumn("VALUE", lambda fact: fact[1], can_shrink=True, kind="sentence"),
    )
    text = render_table(columns, [("lag", "31 ms maximum, 8 ms average")], RenderOptions(width=20))
    assert wrap_lines(text, 20).split("\n")[1:] == ["lag    31 ms", "       maximum, 8 ms", "       average"]


@given(
    st.lists(st.tuples(st.integers(0, 10**9), st.text(max_size=30), st.text(max_size=60)), min_size=1, max_size=4),
    st.integers(12, 90),
    st.booleans(),
)
def test_no_row_is_wider_than_the_terminal(rows: list[tuple[int, str, str]], width: int, colour: bool) -> None:
    table = render_table(COLUMNS, rows, RenderOptions(width=width, colour=colour))
    plain = table.replace("\x1b[1m", "").replace("\x1b[36m", "").replace("\x1b[2m", "").replace("\x1b[0m", "")
    assert max(map(measure_width, plain.split("\n"))) <= width
