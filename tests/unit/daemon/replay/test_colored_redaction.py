"""Secrets are redacted in coloured rows."""

from termvisor.daemon.replay.colored_redaction import redact_colored_rows, redact_rows
from termvisor.redaction import Redactor, SeenSecrets

KEY = "sk-ant-api03-" + "aB3dE6gH9" * 10


def test_a_secret_that_begins_above_the_screen_is_followed_into_it():
    above = ["$ cat key", KEY[:60]]
    assert redact_colored_rows([f"\x1b[1m{KEY[60:]}\x1b[0m", "\x1b[32mall is fine\x1b[0m"], above) == [
        "[redacted:anthropic_key]",
        "\x1b[32mall is fine\x1b[0m",
    ]
    assert redact_rows([KEY[60:], "all is fine"], above) == ["[redacted:anthropic_key]", "all is fine"]


def test_a_coloured_row_loses_its_colours_only_where_it_hides_a_secret():
    rows = ["\x1b[32mfine\x1b[0m", f"\x1b[31msk-ant-\x1b[1mapi03-{KEY[13:]}\x1b[0m"]
    assert redact_colored_rows(rows) == [rows[0], "sk-ant-[redacted:anthropic_key]"]


def test_what_is_left_of_a_key_is_taken_out_where_the_key_was_seen_before():
    secrets = SeenSecrets()
    Redactor(seen_secrets=secrets).redact_lines([KEY])
    rows = [f"\x1b[1mworking\x1b[0m{KEY[30:60]}", "fine"]
    assert redact_colored_rows(rows, (), secrets) == ["working[redacted:anthropic_key]", "fine"]
