"""What agents wrote, without its secrets and still readable."""

import json

import pytest

from termvisor.agents.sources.json_redaction import redact_json_text

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
def test_json_stays_json_without_its_secrets(value, secret, kept):
    shown = redact_json_text(json.dumps(value))
    assert json.loads(shown).keys() == value.keys()
    assert secret not in shown
    assert kept in shown
    assert redact_json_text(shown) == shown


def test_what_holds_no_secret_stays_as_it_is_to_the_byte():
    text = '{ "a" : [1, 2.50, "ü", null, {"b":"c\\n"}] }'
    assert redact_json_text(text) == text
    assert redact_json_text("plain text {") == "plain text {"


def test_text_that_is_no_json_loses_its_secrets_too():
    assert "hunter22" not in redact_json_text("PASSWORD=hunter22 {")


def test_a_text_nested_deeper_than_can_be_read_is_plain_text():
    deep = "[" * 100_000
    assert redact_json_text(deep) == deep
