"""Properties of find_rows_after_tail: it returns only captured rows, and finds an overlap that exists."""

from hypothesis import given
from hypothesis import strategies as st

from termvisor.capture.overlap import find_rows_after_tail, normalize_line

lines = st.lists(st.sampled_from(["", "a", "b", "c", "compiling", "done"]), max_size=12)


@given(lines, lines)
def test_recovered_rows_are_the_end_of_the_capture(tail, rows):
    found = find_rows_after_tail(tail, rows) or []
    assert rows[len(rows) - len(found) :] == found


@given(st.lists(st.text(st.characters(categories=["L"]), min_size=1), min_size=4, max_size=30, unique=True), st.data())
def test_a_history_of_unique_lines_is_always_aligned(history, data):
    known = data.draw(st.integers(3, len(history)))
    assert find_rows_after_tail(history[:known], history) == history[known:]


def find_by_definition(tail, rows):
    """Return the answer as it is defined: each place is compared line by line."""
    shown, known = [normalize_line(row) for row in rows], [normalize_line(line) for line in tail]
    places = []
    for end in range(1, len(rows) + 1):
        pairs = list(zip(reversed(known[-50:]), reversed(shown[:end]), strict=False))
        distinct = {old for old, _ in pairs if old}
        places += [end] if len(distinct) >= 3 and all(old == new for old, new in pairs) else []
    return list(rows[places[0] :]) if len(places) == 1 else None


few_lines = st.lists(st.sampled_from(["", "a", "b", "c\td", "c       d", "\t", "end "]), max_size=70)


@given(few_lines, few_lines, st.data())
def test_the_answer_is_what_comparing_each_place_gives(tail, more, data):
    rows = tail[data.draw(st.integers(0, len(tail))) :] + more
    assert find_rows_after_tail(tail, rows) == find_by_definition(tail, rows)


@given(st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1), min_size=8, unique=True), st.data())
def test_a_screen_that_shares_no_three_lines_with_the_tail_proves_nothing(history, data):
    cut = data.draw(st.integers(3, len(history) - 1))
    lost = data.draw(st.integers(-2, len(history) - cut))
    assert find_rows_after_tail(history[:cut], history[max(0, cut + lost) :]) is None
