"""Properties of find_rows_after_tail: it returns only captured rows, and finds an overlap that exists."""

from hypothesis import given
from hypothesis import strategies as st

from termvisor.capture.epochs import find_rows_after_tail

lines = st.lists(st.sampled_from(["", "a", "b", "c", "compiling", "done"]), max_size=12)


@given(lines, lines)
def test_recovered_rows_are_the_end_of_the_capture(tail, rows):
    found = find_rows_after_tail(tail, rows) or []
    assert rows[len(rows) - len(found) :] == found


@given(st.lists(st.text(st.characters(categories=["L"]), min_size=1), min_size=4, max_size=30, unique=True), st.data())
def test_a_history_of_unique_lines_is_always_aligned(history, data):
    known = data.draw(st.integers(3, len(history)))
    assert find_rows_after_tail(history[:known], history) == history[known:]
