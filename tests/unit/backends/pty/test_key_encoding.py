"""The bytes of keys, as an xterm sends them."""

import pytest

from termvisor.backends.key_names import KEY_NAMES
from termvisor.backends.pty.key_encoding import encode_keys
from termvisor.errors import BadRequest


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("Enter", b"\r"),
        ("Escape", b"\x1b"),
        ("BSpace", b"\x7f"),
        ("BTab", b"\x1b[Z"),
        ("S-Tab", b"\x1b[Z"),
        ("a", b"a"),
        ("é", "é".encode()),
        ("C-c", b"\x03"),
        ("C-Space", b"\x00"),
        ("C-[", b"\x1b"),
        ("M-x", b"\x1bx"),
        ("C-M-c", b"\x1b\x03"),
        ("S-a", b"A"),
        ("Up", b"\x1b[A"),
        ("C-Up", b"\x1b[1;5A"),
        ("M-S-Left", b"\x1b[1;4D"),
        ("F1", b"\x1bOP"),
        ("S-F1", b"\x1b[1;2P"),
        ("F5", b"\x1b[15~"),
        ("C-Delete", b"\x1b[3;5~"),
        ("PageUp", b"\x1b[5~"),
    ],
)
def test_a_key_has_the_bytes_of_an_xterm(key, expected):
    assert encode_keys([key]) == expected


def test_cursor_keys_depend_on_the_mode_of_the_program():
    assert encode_keys(["Up", "Home", "C-Up"], application_cursor=True) == b"\x1bOA\x1bOH\x1b[1;5A"


def test_every_named_key_has_bytes():
    assert [key for key in sorted(KEY_NAMES) if not encode_keys([key])] == []


def test_an_unknown_key_is_rejected_before_any_is_encoded():
    with pytest.raises(BadRequest, match="Foo"):
        encode_keys(["Enter", "Foo"])
