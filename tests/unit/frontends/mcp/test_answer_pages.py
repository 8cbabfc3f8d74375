"""Cutting answers; that the pages joined are the answer is tested for any text in tests/property."""

import pytest

from termvisor.frontends.mcp.answer_pages import MAX_KEPT_ANSWERS, AnswerPages


def test_a_short_answer_is_not_kept() -> None:
    page = AnswerPages().cut_answer("fine", False, "note")
    assert (page.text, page.cursor, page.note) == ("fine", "", "note")


def test_a_page_ends_with_a_line_and_the_note_follows_the_last() -> None:
    pages = AnswerPages(page_bytes=10)
    first = pages.cut_answer("one\ntwo\nthree\n", True, "note")
    assert (first.text, first.note, first.is_untrusted, first.shown, first.total) == ("one\ntwo\n", "", True, 8, 14)
    last = pages.find_page(first.cursor)
    assert last is not None
    assert (last.text, last.note, last.cursor, last.is_untrusted) == ("three\n", "note", "", True)


@pytest.mark.parametrize("cursor", ["", "x", "x.1", ".1", "{0}", "{0}.", "{0}.99999999999", "{0}.-1", "{0}.٣", "{0}.3"])
def test_a_cursor_that_was_not_given_finds_nothing(cursor: str) -> None:
    pages = AnswerPages(page_bytes=4)
    given = pages.cut_answer("éééééé", False, "").cursor
    assert pages.find_page(given) is not None
    assert pages.find_page(cursor.format(given.partition(".")[0])) is None


def test_old_answers_are_dropped() -> None:
    pages = AnswerPages(page_bytes=2)
    cursors = [pages.cut_answer("long", False, "").cursor for _ in range(MAX_KEPT_ANSWERS + 1)]
    assert [pages.find_page(cursor) is None for cursor in cursors] == [True] + [False] * MAX_KEPT_ANSWERS
