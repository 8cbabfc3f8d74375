"""Placeholders, markers and ordinary words are not secrets."""

import pytest

from termvisor.redaction import redact
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


LETTERS, KEY_MARKER, PLAIN_WORDS = "abcdefghijklmnop", "BEGIN PRIVATE KEY-----", "two-words-2-and-3-more"
MIXED, UPPER = "ab1cd2ef3gh4ij5kl", "AbcDefGhiJklMnoPqr"


@pytest.mark.parametrize(
    ("before", "secret", "after"),
    [
        ("password=", "hunte1", ""),
        ("password=", "12345678", ""),
        ("password=", "abc+defg", ""),
        ("PASSWORD=", "hunter", ""),
        ('password: "', "hunter", '"'),
        ('password: "', "a(b)c", '"'),
        ("token=", "abcd1234", ""),
        ('token="', LETTERS, '"'),
        ('token="', "foo(bar1)x", '"'),
        ("TOKEN=", LETTERS, ""),
        ("--password ", "abc+def", ""),
        ("twilio_x = ", MIXED, ""),
        ("Bearer ", MIXED, ""),
        ("Basic ", "QWxhZGRpbjpvcGVu", ""),
        ("https://u:", "p", "@h"),
        (KEY_MARKER, "MIIEvQIBADANBgkq", "-----END"),
    ],
)
def test_each_reason_to_accept_a_value_is_enough(before: str, secret: str, after: str):
    masked = redact(before + secret + after)
    assert masked.startswith(f"{before}[redacted:")
    assert masked.endswith(f"]{after}")


@pytest.mark.parametrize(
    "text",
    [
        *("password=hunt1", "password=abcdefg", "PASSWORD: hunter", "password=get(x1)y", "PASSWORD=get(x1)y"),
        *(
            "token=abc1234",
            "token=12345678",
            'token="abcdefgh"',
            'token="abcdefghijklmno"',
            'token="abcdefgh.ijklmnop"',
        ),
        *(f"TOKEN: {LETTERS}", f"token={LETTERS}", "token=foo(bar1)x", "token=my_variable_1", "token=example1234"),
        *("--password hunter", "--password file(1)x", "--token example1234"),
        *("twilio_x = abcdefghijklmnop1", f"twilio_x = {PLAIN_WORDS}", "twilio_x = example1a2b3c4d5e6f"),
        *("Bearer example1234567890", "Bearer some-token-value12", f"Bearer {UPPER}"),
        *("Basic abcdefgh1234", "Basic ABCDEFGH1234+", "Basic JavaScript", "Basic JavaScript=="),
        *("https://u:$p@h", "https://u:<p>@h", "https://u:{p}@h", "https://u:*@h", "https://u:[redacted:x]@h"),
        *(f"{KEY_MARKER}internationalization-----END", f"{KEY_MARKER}a1b2c3 d4e5f6 a1b2c3d4-----END"),
    ],
)
def test_each_reason_to_reject_a_value_is_enough(text: str):
    assert redact(text) == text
