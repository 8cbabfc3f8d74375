"""Placeholders and masks are no values; everything else is judged where the forms are tested."""

import pytest

from termvisor.redaction.value_checks import is_placeholder


@pytest.mark.parametrize(
    "text",
    [
        *("****", "....", "xxxxxxxx", "<password>", "${TOKEN}", "$TOKEN", "{{ token }}", "None", "null", "true", "•••"),
        *("your-api-key", "my_password", "example-key-1", "API_KEY", "string"),
        *("[redacted:jwt]", "sk-[redacted:openai_key]"),
    ],
)
def test_a_placeholder_is_a_dummy(text: str):
    assert is_placeholder(text)


@pytest.mark.parametrize("text", ["hunter2", "correcthorse", "changeme", "p@ss", "keystone9", "tokenring1234"])
def test_a_value_is_not(text: str):
    assert not is_placeholder(text)
