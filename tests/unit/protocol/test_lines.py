"""Splitting a byte stream into lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.errors import Conflict, NewerDatabase
from termvisor.protocol import lines
from termvisor.protocol.lines import LineBuffer, LineTooLong


@given(st.lists(st.binary()), st.integers(1, 9))
def test_lines_are_complete_at_any_chunk_border(chunks: list[bytes], step: int) -> None:
    data = b"\n".join(chunks)
    lines = LineBuffer()
    found = [line for start in range(0, len(data), step) for line in lines.feed(data[start : start + step])]
    assert [*found, lines.get_rest()] == data.split(b"\n")


def test_a_line_above_the_limit_is_rejected_before_its_end() -> None:
    lines = LineBuffer(limit=10)
    assert lines.feed(b"x" * 10) == []
    with pytest.raises(LineTooLong):
        lines.feed(b"x")


def test_a_long_line_among_short_ones_is_rejected() -> None:
    with pytest.raises(LineTooLong):
        LineBuffer(limit=10).feed(b"short\n" + b"x" * 11 + b"\nshort\n")


def test_an_error_survives_formatting_and_parsing() -> None:
    text = "some warning\n" + lines.format_error(NewerDatabase("schema 9 is\nnewer", hint="Upgrade."))
    error = lines.parse_last_error(text)
    assert isinstance(error, NewerDatabase)
    assert (error.message, error.hint) == ("schema 9 is newer", "Upgrade.")


def test_the_last_of_several_errors_counts() -> None:
    text = lines.format_error(NewerDatabase("first")) + lines.format_error(Conflict("second"))
    assert isinstance(lines.parse_last_error(text), Conflict)


def test_a_text_without_a_visor_error_gives_none() -> None:
    assert lines.parse_last_error("Traceback (most recent call last):\nvisor: not_a_code: x\n\n") is None
