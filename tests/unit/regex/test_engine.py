"""Matching lines are found by bisecting a block."""

from hypothesis import given
from hypothesis import strategies as st

from termvisor.regex.engine import ensure_utf8, find_ids_by_line


def find_letters(data: bytes) -> frozenset[str]:
    return frozenset(chr(byte) for byte in data if byte in b"xy")


@given(st.lists(st.sampled_from(["", "a", "x", "y", "xy", "axa"]), max_size=20))
def test_bisecting_finds_the_same_as_scanning_every_line(lines):
    expected = sorted({(number, letter) for number, line in enumerate(lines) for letter in line if letter in "xy"})
    assert find_ids_by_line(find_letters, "\n".join(lines).encode()) == expected


def test_a_block_without_matches_is_scanned_once():
    scans: list[bytes] = []
    assert find_ids_by_line(lambda data: frozenset(scans.append(data) or ()), b"a\nb\nc") == []
    assert scans == [b"a\nb\nc"]


def test_text_is_not_copied_and_other_bytes_are_replaced():
    text = "│ x".encode()
    assert ensure_utf8(text) is text
    assert ensure_utf8(b"\xffx") == "\ufffdx".encode()
