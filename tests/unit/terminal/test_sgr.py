"""Make captured rows self-contained."""

import pytest

from termvisor.terminal.sgr import make_rows_self_contained


@pytest.mark.parametrize(
    ("rows", "alone"),
    [
        (["plain   "], ["plain"]),
        (["\x1b[31mred", "still red"], ["\x1b[31mred\x1b[0m", "\x1b[31mstill red\x1b[0m"]),
        (["\x1b[31mred\x1b[39m", "not"], ["\x1b[31mred\x1b[0m", "not"]),
        (["\x1b[44mbar   ", "\x1b[0mnext"], ["\x1b[44mbar   \x1b[0m", "next"]),
        (
            ["\x1b[1;38;2;1;2;3;48;5;9mx", "y"],
            ["\x1b[1;38;2;1;2;3;48;5;9mx\x1b[0m", "\x1b[1;38;2;1;2;3;48;5;9my\x1b[0m"],
        ),
        (["\x1b[4:3mcurly\x1b[24mnone"], ["\x1b[4:3mcurly\x1b[0mnone"]),
        (["\x1b[31m\x1b[32mgreen\x1b[1mbold"], ["\x1b[32mgreen\x1b[0;32;1mbold\x1b[0m"]),
        (["\x1b[1m\x1b[22mthin"], ["thin"]),
        (["\x1b[7m", ""], ["", ""]),
        (["\x0elqqk\x0f lqqk"], ["┌──┐ lqqk"]),
        (["\x0ex", "x\x0fx"], ["│", "│x"]),
        (["a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b\x1b[5Cc\x07"], ["alinkbc"]),
    ],
)
def test_each_row_begins_and_ends_without_colours(rows: list[str], alone: list[str]) -> None:
    assert make_rows_self_contained(rows) == alone


def test_self_contained_rows_are_unchanged() -> None:
    rows = make_rows_self_contained(["\x1b[1;31mone", "two\x1b[0m three", "\x1b[38;5;200mfour"])
    assert make_rows_self_contained(rows) == rows
