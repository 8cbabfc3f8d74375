"""The channel `webhook` with a real receiver and worker process."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from termvisor.actions.notifications import webhook
from termvisor.actions.notifications.http_post import PostRequest, PostResult
from termvisor.actions.notifications.webhook import TIMED_OUT, WebhookChannel, read_secret
from termvisor.clock import NS
from termvisor.errors import ConfigError
from termvisor.model.action.notification import UserNotification
from termvisor.model.settings.notifications import NotificationSettings
from termvisor.testing.fake_clock import NOON, FakeClock
from tests.unit.actions.notifications.webhook_receiver import KEY, run_receiver

NOTICE = UserNotification(id="a1b2", at="2026-01-01T12:00:00.000Z", title="build", text="done")


class HastyClock(FakeClock):
    """A clock whose sleeps take no time and are counted."""

    async def sleep(self, seconds: float) -> None:
        await self.advance(seconds)


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("HOOK_KEY", KEY)


async def send_to(url: str, **more):
    settings = NotificationSettings(**{"notify_webhook_url": url, "notify_webhook_secret": "env:HOOK_KEY"} | more)
    return await WebhookChannel(HastyClock()).send(NOTICE, settings)


async def test_the_notification_arrives_signed():
    with run_receiver(200) as there:
        assert (await send_to(there.url)).status == "done"
    (request,) = there.received
    assert request.is_genuine and request.timestamp == NOON // NS
    body = json.loads(request.body)
    assert (body["id"], body["title"], body["text"]) == (request.id, "build", "done")


async def test_a_retry_has_the_same_id_and_a_new_signature():
    with run_receiver(503, 503, 200) as there:
        assert (await send_to(there.url)).status == "done"
    assert {request.id for request in there.received} == {"a1b2"}
    assert [request.timestamp - NOON // NS for request in there.received] == [0, 1, 5]
    assert all(request.is_genuine for request in there.received)


async def test_there_are_three_attempts():
    with run_receiver(500) as there:
        answer = await send_to(there.url)
    assert (answer.status, answer.why, len(there.received)) == ("failed", "http_500", 3)


async def test_a_permanent_failure_is_tried_once():
    with run_receiver(404) as there:
        assert (await send_to(there.url)).why == "http_404"
    assert len(there.received) == 1


async def test_a_receiver_that_hangs_ends_as_a_timeout():
    with run_receiver(0) as there:
        assert (await send_to(there.url, notify_timeout=0.1)).why == "timeout"


async def test_without_its_secret_nothing_is_sent():
    with run_receiver(200) as there:
        assert (await send_to(there.url, notify_webhook_secret="env:NOT_THERE")).why == "no_secret"
    assert there.received == []


async def test_errors_contain_neither_secret_nor_address():
    with run_receiver(404) as there:
        answer = await send_to(there.url)
    assert KEY not in repr(answer) and "room=1" not in repr(answer)


def test_the_daemon_does_not_load_tls():
    """OpenSSL belongs to the process that posts; a fresh interpreter shows that the daemon's side does without it."""
    lean = (
        "import sys, termvisor.actions.notifications.notifier\n"
        "print({'_hashlib', 'hmac', 'http.client'} & set(sys.modules))"
    )
    out = subprocess.run([sys.executable, "-c", lean], capture_output=True, text=True, check=True).stdout
    assert out == "set()\n"


def test_an_empty_reference_gives_an_empty_secret():
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
def test_a_readable_or_empty_secret_file_is_rejected_without_its_content(tmp_path, mode, data, why):
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


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (1, PostResult(why="program_failed", text="the worker exited with status 1")),
        (TIMED_OUT, PostResult(why="timeout", text=f"the worker exited with status {TIMED_OUT}", may_pass=True)),
    ],
)
async def test_a_worker_that_ends_without_an_answer_is_reported(monkeypatch, status, expected):
    async def run_worker(*_args: object, **_options: object) -> object:
        return SimpleNamespace(values=(), status=status)

    monkeypatch.setattr(webhook, "run_isolated_worker", run_worker)
    request = PostRequest(url="https://x", id="a", body="{}")
    assert await WebhookChannel(HastyClock())._run_worker(request) == expected
