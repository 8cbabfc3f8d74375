"""Sanitizing notification texts."""

from hypothesis import given
from hypothesis import strategies as some

from termvisor.actions.notifications.channels import MAX_TEXT_CHARS, MAX_TITLE_CHARS, sanitize_line, sanitize_text

KEY = "sk-ant-api03-" + "a1B2" * 23 + "-AAAAAAA"


def test_a_title_is_one_line_and_a_text_keeps_its_lines():
    assert sanitize_line(" a\n\tb\x1b[31m c\r\n") == "a b c"
    assert sanitize_text("\n first  \r\nsecond\x07\n") == "first\nsecond"


def test_secrets_are_redacted_also_behind_control_characters():
    assert KEY not in sanitize_line(f"key {KEY}")
    assert KEY not in sanitize_text(f"key {KEY[:20]}\x1b[0m{KEY[20:50]}\x00{KEY[50:]}")


def test_long_texts_are_truncated():
    assert (len(sanitize_line("x" * 9999)), len(sanitize_text("x" * 9999))) == (MAX_TITLE_CHARS, MAX_TEXT_CHARS)
    assert sanitize_line("x" * 9999).endswith("…")


@given(some.text())
def test_no_control_character_survives(text):
    assert sanitize_line(text).isprintable()
    assert sanitize_text(text).replace("\n", "").isprintable()
    assert len(sanitize_text(text).encode()) <= 4 * MAX_TEXT_CHARS
