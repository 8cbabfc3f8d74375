"""Redaction of text and JSON written by agents."""

import json

import pytest

from termvisor.agents.sources.redaction import redact_json_text

KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\nabcdefgh\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("value", "secret", "kept"),
    [
        ({"api_key": "sk-ant-api03-" + "a" * 90, "b": 1}, "a" * 90, "b"),
        ({"command": 'export PASSWORD="hunter22" && ls'}, "hunter22", "ls"),
        ({"password": "hunter2hunter2"}, "hunter2", "password"),
        ({"env": [{"GITHUB_TOKEN": "ghp_" + "x" * 36}], "ok": True}, "x" * 36, "GITHUB_TOKEN"),
        ({"output": f"here\n{KEY}\ndone"}, "MIIEowIBAAKCAQEA", "done"),
        ({"header": "Authorization: Bearer abcdefghijklmnop1234567890"}, "abcdefghijklmnop", "Authorization"),
    ],
)
def test_secrets_in_json_are_redacted_and_it_stays_json(value, secret, kept):
    shown = redact_json_text(json.dumps(value))
    assert json.loads(shown).keys() == value.keys()
    assert secret not in shown
    assert kept in shown
    assert redact_json_text(shown) == shown


def test_text_without_secrets_is_unchanged():
    text = '{ "a" : [1, 2.50, "ü", null, {"b":"c\\n"}] }'
    assert redact_json_text(text) == text
    assert redact_json_text("plain text {") == "plain text {"


def test_plain_text_is_redacted():
    assert "hunter22" not in redact_json_text("PASSWORD=hunter22 {")


def test_json_nested_too_deep_is_redacted_as_plain_text():
    deep = "[" * 100_000
    assert redact_json_text(deep) == deep
