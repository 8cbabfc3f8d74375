import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.jobs.output import OutputPiece
from termvisor.jobs.output_lines import render_plain, split_lines
from termvisor.redaction import Redactor


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"plain\r", "plain"),
        (b"\x1b[31mred\x1b[0m \x1b]0;title\x07end", "red end"),
        (b" 10%\r 55%\r100%", "100%"),
        (b"longer text\rshort", "short  text".replace("  ", "r ")),
        (b"pass\b\b\b\bword", "word"),
        (b"\xff caf\xc3\xa9", "\ufffd café"),
    ],
)
def test_a_line_is_what_is_shown_in_the_end(data, shown) -> None:
    assert render_plain(data) == shown


def test_a_line_has_the_offset_of_its_first_byte() -> None:
    pieces = (OutputPiece(10, b"one\r\ntw", 1), OutputPiece(17, b"o\r\nthree", 2))
    found = split_lines(pieces, 10, is_over=False, redactor=Redactor())
    assert [(line.offset, line.text, line.at) for line in found.lines] == [(10, "one", 1), (15, "two", 2)]
    assert (found.pending, found.cursor) == ("three", 20)
    ended = split_lines(pieces, 10, is_over=True, redactor=Redactor())
    assert (ended.lines[-1].text, ended.pending, ended.cursor) == ("three", "", 25)


@given(st.binary(max_size=300), st.lists(st.integers(1, 40), max_size=10))
def test_lines_do_not_depend_on_how_the_bytes_arrived(data, sizes) -> None:
    pieces, offset = [], 0
    for size in [*sizes, len(data)]:
        if part := data[offset : offset + size]:
            pieces.append(OutputPiece(offset, part, 0))
        offset += size
    split = split_lines(tuple(pieces), 0, is_over=True, redactor=Redactor())
    whole = split_lines((OutputPiece(0, data, 0),) if data else (), 0, is_over=True, redactor=Redactor())
    assert split == whole
    assert split.cursor == len(data)
