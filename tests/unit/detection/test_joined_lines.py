import pytest

from termvisor.detection.joined_lines import MAX_LINE_CHARS, has_cut_line, join_lines


@pytest.mark.parametrize(
    ("lines", "is_cut"),
    [
        ([], False),
        (["a"] * 9000, False),
        (["x" * (MAX_LINE_CHARS - 1)] * 3, False),
        (["a", "x" * MAX_LINE_CHARS], True),
        (["x" * MAX_LINE_CHARS, "a"], True),
        (["a" * 90] * 100 + ["x" * MAX_LINE_CHARS] + ["b"] * 100, True),
    ],
)
def test_cut_lines_are_found(lines: list[str], is_cut: bool) -> None:
    assert has_cut_line("\n".join(lines)) == is_cut


def test_cut_lines_are_joined_and_offsets_are_located() -> None:
    rows = join_lines(["a", "x" * MAX_LINE_CHARS, "y" * MAX_LINE_CHARS, "z", "b"])
    assert [len(text) for text in rows.texts] == [1, 2 * MAX_LINE_CHARS + 1, 1]
    assert list(rows.first_lines) == [0, 1, 4]
    assert [
        rows.locate_offset(1, offset) for offset in (0, MAX_LINE_CHARS - 1, MAX_LINE_CHARS, 2 * MAX_LINE_CHARS)
    ] == [(1, 0), (1, 0), (2, MAX_LINE_CHARS), (3, 2 * MAX_LINE_CHARS)]
    assert not rows.is_open(1)
    assert join_lines(["a", "x" * MAX_LINE_CHARS]).is_open(1)
