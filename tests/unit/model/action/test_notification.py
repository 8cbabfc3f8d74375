"""Notices, and which settings for them are right."""

import pytest

from termvisor.model.action.notification import (
    NotificationSettings,
    UserNotification,
    WebhookAddress,
    find_missing_settings,
    find_notification_problems,
    parse_webhook_url,
)


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("https://hooks.example.org/a/b?c=d", WebhookAddress(True, "hooks.example.org", 443, "/a/b?c=d")),
        ("https://10.0.0.1:8443", WebhookAddress(True, "10.0.0.1", 8443, "/")),
        ("http://localhost:9000/x", WebhookAddress(False, "localhost", 9000, "/x")),
        ("http://127.0.0.1", WebhookAddress(False, "127.0.0.1", 80, "/")),
        ("http://[::1]:80/", WebhookAddress(False, "::1", 80, "/")),
    ],
)
def test_an_address_is_encrypted_or_on_this_machine(url, found):
    assert parse_webhook_url(url) == found


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
def test_everything_else_is_no_address_and_the_complaint_does_not_repeat_it(url):
    assert parse_webhook_url(url) is None
    (complaint,) = find_notification_problems(NotificationSettings(notify_webhook_url=url))
    assert "notify_webhook_url" in complaint and url not in complaint


@pytest.mark.parametrize("reference", ["hunter2", "env:", "env:A-B", "file:relative", "file:"])
def test_a_secret_that_stands_there_itself_is_refused_without_being_repeated(reference):
    (complaint,) = find_notification_problems(NotificationSettings(notify_webhook_secret=reference))
    assert "env:NAME or file:/path" in complaint and "hunter2" not in complaint


def test_what_is_right_is_not_complained_of():
    settings = NotificationSettings(
        notify_webhook_url="https://example.org/", notify_webhook_secret="file:/run/key", notify_command=("beep",)
    )
    assert (list(find_notification_problems(settings)), find_missing_settings(settings)) == ([], {})


def test_ways_that_need_a_setting_are_named_with_it():
    assert find_missing_settings(NotificationSettings()) == {
        "webhook": "notify_webhook_url",
        "command": "notify_command",
    }


def test_a_notice_for_a_person_has_everything_but_its_title_in_lines():
    notice = UserNotification(id="1", at="", title="build", text="done", place="pane 7 (…)", held_back=2)
    assert notice.body == "done\npane 7 (…)\n(2 more held back)"
    assert UserNotification(id="1", at="", title="build").body == ""
