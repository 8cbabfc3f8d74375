import pytest

from termvisor.policy.shell.quoting import decode_ansi_c, decode_double_quoted


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("a\\n\\t\\e", "a\n\t\x1b"),
        ("\\x72m", "rm"),
        ("\\162m", "rm"),
        ("\\u0072\\U0000006d", "rm"),
        ("\\cA", "\x01"),
        ("\\'\\\\", "'\\"),
        ("\\q", "q"),
        ("\\x0", "\ufffd"),
        ("\\ud800", "\ufffd"),
        ("\\Uffffffff", "\ufffd"),
    ],
)
def test_ansi_escapes_are_read_as_bash_reads_them(text: str, meaning: str) -> None:
    assert decode_ansi_c(text) == meaning


def test_in_double_quotes_a_backslash_counts_before_few_signs() -> None:
    assert decode_double_quoted('\\"\\$\\`\\\\\\a\\\nb') == '"$`\\\\ab'
