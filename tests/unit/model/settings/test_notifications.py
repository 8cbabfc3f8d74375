"""Validation of notification settings and webhook addresses."""

import pytest

from termvisor.model.settings.notifications import (
    NotificationSettings,
    WebhookAddress,
    find_missing_settings,
    find_notification_problems,
    parse_webhook_url,
)


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://hooks.example.org/a/b?c=d", WebhookAddress(True, "hooks.example.org", 443, "/a/b?c=d")),
        ("https://10.0.0.1:8443", WebhookAddress(True, "10.0.0.1", 8443, "/")),
        ("http://localhost:9000/x", WebhookAddress(False, "localhost", 9000, "/x")),
        ("http://127.0.0.1", WebhookAddress(False, "127.0.0.1", 80, "/")),
        ("http://[::1]:80/", WebhookAddress(False, "::1", 80, "/")),
    ],
)
def test_webhook_url_must_be_https_or_on_this_machine(url, address):
    assert parse_webhook_url(url) == address


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/",
        "http://localhost.example.org/",
        "http://127.0.0.1.example.org/",
        "http://localhost@example.org/",
        "https://me:pass@example.org/",
        "https://example.org:0/",
        "https://example.org:99999/",
        "https://example.org/a b",
        "https://example.org/\r\nhost: x",
        "https://example.org/#there",
        "https:///x",
        "example.org",
        "ftp://example.org/",
    ],
)
def test_invalid_webhook_url_is_reported_without_its_value(url):
    assert parse_webhook_url(url) is None
    (problem,) = find_notification_problems(NotificationSettings(notify_webhook_url=url))
    assert "notify_webhook_url" in problem and url not in problem


@pytest.mark.parametrize("reference", ["hunter2", "env:", "env:A-B", "file:relative", "file:"])
def test_literal_webhook_secret_is_rejected_without_its_value(reference):
    (problem,) = find_notification_problems(NotificationSettings(notify_webhook_secret=reference))
    assert "env:NAME or file:/path" in problem and "hunter2" not in problem


def test_valid_settings_have_no_problems():
    settings = NotificationSettings(
        notify_webhook_url="https://example.org/", notify_webhook_secret="file:/run/key", notify_command=("beep",)
    )
    assert (list(find_notification_problems(settings)), find_missing_settings(settings)) == ([], {})


def test_notification_channels_with_a_missing_setting_are_reported():
    assert find_missing_settings(NotificationSettings()) == {
        "webhook": "notify_webhook_url",
        "command": "notify_command",
    }
