"""What ordinary words look like."""

import pytest

from termvisor.redaction.ordinary_words import is_plain, is_wordy


@pytest.mark.parametrize("text", ["word", "Word", "two-words", "snake_case", "python3", "2024-05-01", "-rw-r--r--", ""])
def test_lower_case_words_and_short_numbers_are_plain(text: str):
    assert is_plain(text)
    assert is_wordy(text)


@pytest.mark.parametrize("text", ["ERROR", "AWS_REGION", "apiVersion", "JavaScript"])
def test_shouted_and_camel_cased_words_are_wordy_but_not_plain(text: str):
    assert not is_plain(text)
    assert is_wordy(text)


@pytest.mark.parametrize("text", ["aB3dE5", "4f2a9c1e", "x9y8z7", "aBcDeF", "1234567890", "ab+cd", "q7Zk"])
def test_mixed_letters_and_digits_are_neither(text: str):
    assert not is_plain(text)
    assert not is_wordy(text)
