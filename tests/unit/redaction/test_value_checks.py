"""Placeholders, markers and ordinary words are not secrets."""

import pytest

from termvisor.redaction.value_checks import has_only_plain_words, has_only_words, is_placeholder


@pytest.mark.parametrize(
    "text",
    [
        *("****", "....", "xxxxxxxx", "<password>", "${TOKEN}", "$TOKEN", "{{ token }}", "None", "null", "true", "•••"),
        *("your-api-key", "my_password", "example-key-1", "API_KEY", "string"),
        *("[redacted:jwt]", "sk-[redacted:openai_key]"),
    ],
)
def test_placeholders_are_recognized(text: str):
    assert is_placeholder(text)


@pytest.mark.parametrize("text", ["hunter2", "correcthorse", "changeme", "p@ss", "keystone9", "tokenring1234"])
def test_values_are_not_placeholders(text: str):
    assert not is_placeholder(text)


@pytest.mark.parametrize("text", ["word", "Word", "two-words", "snake_case", "python3", "2024-05-01", "-rw-r--r--", ""])
def test_lower_case_words_and_short_numbers_are_plain_words(text: str):
    assert has_only_plain_words(text)
    assert has_only_words(text)


@pytest.mark.parametrize("text", ["ERROR", "AWS_REGION", "apiVersion", "JavaScript"])
def test_upper_and_camel_case_words_are_words_but_not_plain(text: str):
    assert not has_only_plain_words(text)
    assert has_only_words(text)


@pytest.mark.parametrize("text", ["aB3dE5", "4f2a9c1e", "x9y8z7", "aBcDeF", "1234567890", "ab+cd", "q7Zk"])
def test_mixed_letters_and_digits_are_neither(text: str):
    assert not has_only_plain_words(text)
    assert not has_only_words(text)
