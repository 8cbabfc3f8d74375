"""The channel `webhook` with a real receiver and worker process."""

import json
import os
import subprocess
import sys

import pytest

from termvisor.actions.notifications.webhook import WebhookChannel, read_secret
from termvisor.clock import NS
from termvisor.errors import ConfigError
from termvisor.model.action.notification import UserNotification
from termvisor.model.settings.notifications import NotificationSettings
from termvisor.testing.fake_clock import NOON, FakeClock
from tests.unit.actions.notifications.webhook_receiver import KEY, run_receiver

NOTICE = UserNotification(id="a1b2", at="2026-01-01T12:00:00.000Z", title="build", text="done")


class HastyClock(FakeClock):
    """Sleeping takes no time and is counted."""

    async def sleep(self, seconds: float) -> None:
        await self.advance(seconds)


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("HOOK_KEY", KEY)


async def sent(url: str, **more):
    settings = NotificationSettings(**{"notify_webhook_url": url, "notify_webhook_secret": "env:HOOK_KEY"} | more)
    return await WebhookChannel(HastyClock()).send(NOTICE, settings)


async def test_the_notice_arrives_signed():
    with run_receiver(200) as there:
        assert (await sent(there.url)).status == "done"
    (got,) = there.received
    assert got.is_genuine and got.timestamp == NOON // NS
    told = json.loads(got.body)
    assert (told["id"], told["title"], told["text"]) == (got.id, "build", "done")


async def test_it_is_tried_again_under_the_same_id_with_a_fresh_signature():
    with run_receiver(503, 503, 200) as there:
        assert (await sent(there.url)).status == "done"
    assert {got.id for got in there.received} == {"a1b2"}
    assert [got.timestamp - NOON // NS for got in there.received] == [0, 1, 5]
    assert all(got.is_genuine for got in there.received)


async def test_there_are_three_attempts():
    with run_receiver(500) as there:
        answer = await sent(there.url)
    assert (answer.status, answer.why, len(there.received)) == ("failed", "http_500", 3)


async def test_a_permanent_failure_is_tried_once():
    with run_receiver(404) as there:
        assert (await sent(there.url)).why == "http_404"
    assert len(there.received) == 1


async def test_a_receiver_that_hangs_ends_as_a_timeout():
    with run_receiver(0) as there:
        assert (await sent(there.url, notify_timeout=0.1)).why == "timeout"


async def test_a_secret_that_is_missing_sends_nothing():
    with run_receiver(200) as there:
        assert (await sent(there.url, notify_webhook_secret="env:NOT_THERE")).why == "no_secret"
    assert there.received == []


async def test_neither_secret_nor_address_is_in_the_answer():
    with run_receiver(404) as there:
        answer = await sent(there.url)
    assert KEY not in repr(answer) and "room=1" not in repr(answer)


def test_the_daemon_does_not_load_tls():
    """OpenSSL belongs to the process that posts; a fresh interpreter shows that the daemon's side does without it."""
    lean = (
        "import sys, termvisor.actions.notifications.notifier\n"
        "print({'_hashlib', 'hmac', 'http.client'} & set(sys.modules))"
    )
    out = subprocess.run([sys.executable, "-c", lean], capture_output=True, text=True, check=True).stdout
    assert out == "set()\n"


def test_no_reference_is_no_secret():
    assert read_secret("") == ""


def test_a_secret_is_in_the_environment_or_in_a_private_file(monkeypatch, tmp_path):
    monkeypatch.setenv("HOOK_KEY", "hush")
    path = tmp_path / "key"
    path.write_text("hush too\n")
    path.chmod(0o600)
    assert (read_secret("env:HOOK_KEY"), read_secret(f"file:{path}")) == ("hush", "hush too")


@pytest.mark.parametrize(
    ("mode", "data", "why"),
    [(0o644, b"hush", "readable by others"), (0o600, b"\n", "empty"), (0o600, b"\xff\xfe", "not UTF-8 text")],
)
def test_a_file_that_is_open_or_holds_nothing_is_refused_without_showing_it(tmp_path, mode, data, why):
    path = tmp_path / "key"
    path.write_bytes(data)
    path.chmod(mode)
    with pytest.raises(ConfigError, match=why) as error:
        read_secret(f"file:{path}")
    assert "hush" not in error.value.message


def test_a_missing_secret_is_an_error(tmp_path):
    os.mkfifo(tmp_path / "fifo", 0o600)
    for reference, why in (
        ("env:NOT_THERE", "not set"),
        ("file:/no/such", "No such"),
        (f"file:{tmp_path}/fifo", "not a regular file"),
    ):
        with pytest.raises(ConfigError, match=why):
            read_secret(reference)
