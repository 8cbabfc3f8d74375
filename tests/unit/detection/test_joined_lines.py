import pytest

from termvisor.detection.joined_lines import CUT, has_cut, rows_of


@pytest.mark.parametrize(
    ("lines", "is_cut"),
    [
        ([], False),
        (["a"] * 9000, False),
        (["x" * (CUT - 1)] * 3, False),
        (["a", "x" * CUT], True),
        (["x" * CUT, "a"], True),
        (["a" * 90] * 100 + ["x" * CUT] + ["b"] * 100, True),
    ],
)
def test_lines_that_were_cut_are_noticed(lines: list[str], is_cut: bool) -> None:
    assert has_cut("\n".join(lines)) == is_cut


def test_the_pieces_of_a_line_are_one_row_and_places_are_found_in_them() -> None:
    rows = rows_of(["a", "x" * CUT, "y" * CUT, "z", "b"])
    assert [len(text) for text in rows.texts] == [1, 2 * CUT + 1, 1]
    assert list(rows.first) == [0, 1, 4]
    assert [rows.place(1, offset) for offset in (0, CUT - 1, CUT, 2 * CUT)] == [(1, 0), (1, 0), (2, CUT), (3, 2 * CUT)]
    assert not rows.is_open(1)
    assert rows_of(["a", "x" * CUT]).is_open(1)
