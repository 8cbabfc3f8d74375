"""The layout of the live table."""

from hypothesis import given
from hypothesis import strategies as st

from termvisor.frontends.tui.table_view import TableView, compose_rows, count_visible_rows, encode_rows, scroll_to

VIEW = TableView(head="cost", title="ID NAME", rows=tuple(f"pane {number}" for number in range(100)), foot="100 panes")


def test_a_usual_screen_has_cost_title_panes_and_foot() -> None:
    rows = compose_rows(VIEW, 24, 0)
    assert rows[:4] == ["cost", "", "ID NAME", "pane 0"]
    assert rows[22] == "pane 19"
    assert rows[23].startswith("1-20 of 100 panes   q quits")


def test_few_panes_leave_room_above_the_foot() -> None:
    rows = compose_rows(TableView(title="t", rows=("only",), foot="1 pane"), 10, 0)
    assert rows == ["", "", "t", "only", "", "", "", "", "", rows[-1]]
    assert rows[-1].startswith("1 pane")


def test_on_a_short_screen_the_panes_stay() -> None:
    assert compose_rows(VIEW, 6, 5)[:2] == ["ID NAME", "pane 5"]
    assert compose_rows(VIEW, 4, 0) == ["ID NAME", "pane 0", "pane 1", "pane 2"]
    assert compose_rows(VIEW, 2, 0) == ["pane 0", "pane 1"]
    assert compose_rows(VIEW, 1, 7) == ["pane 7"]


def test_a_problem_replaces_the_cost_line() -> None:
    troubled = TableView(head="cost", title="t", problem="no daemon")
    assert compose_rows(troubled, 24, 0)[0] == "no daemon"
    assert compose_rows(troubled, 6, 0)[0] == "no daemon"


@given(st.integers(1, 60), st.integers(0, 99))
def test_there_are_never_more_rows_than_the_screen_has(height: int, top: int) -> None:
    assert len(compose_rows(VIEW, height, top)) <= height
    assert 1 <= count_visible_rows(VIEW, height) <= height


def test_keys_move_the_view_and_stop_at_its_ends() -> None:
    assert [scroll_to(0, key, 100, 20) for key in ("up", "down", "page_down", "end", "home")] == [0, 1, 20, 80, 0]
    assert [scroll_to(80, key, 100, 20) for key in ("down", "page_up", "up", "?")] == [80, 60, 79, 80]
    assert scroll_to(50, "", 10, 20) == 0


def test_painting_is_one_update_from_the_top_left() -> None:
    assert encode_rows(["a", "b"]) == b"\x1b[?2026h\x1b[H\x1b[Ka\x1b[0m\r\n\x1b[Jb\x1b[0m\x1b[?2026l"
    assert encode_rows([]) == b"\x1b[?2026h\x1b[H\x1b[J\x1b[0m\x1b[?2026l"
