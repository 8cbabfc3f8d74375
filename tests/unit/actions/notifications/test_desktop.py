"""The channel `desktop`, with a script in place of notify-send, which needs a desktop."""

import os

import pytest

from termvisor.actions.notifications.channels import build_argv, send_to_desktop
from termvisor.model.action.notification import UserNotification
from termvisor.model.settings.notifications import NotificationSettings
from tests.unit.actions.notifications.shell_script import write_script

HOSTILE = UserNotification(
    id="1", at="", title="--icon=/etc/passwd", text="<img src='http://x'> & $(reboot)", held_back=2
)


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path


async def send(timeout: float = 5.0):
    answer = await send_to_desktop(HOSTILE, NotificationSettings(notify_timeout=timeout))
    return answer.status, answer.why


async def test_texts_are_neither_options_nor_markup(path):
    write_script(path, "notify-send", f"printf '%s|' \"$@\" > {path}/got")
    assert await send() == ("done", "")
    assert (path / "got").read_text() == (
        "--app-name=Termvisor|--|--icon=/etc/passwd|&lt;img src='http://x'&gt; &amp; $(reboot)\n(2 more held back)|"
    )


async def test_a_missing_desktop_is_reported(path):
    write_script(path, "notify-send", "echo 'cannot connect to the bus' >&2; exit 1")
    answer = await send_to_desktop(HOSTILE, NotificationSettings())
    assert (answer.why, "cannot connect to the bus" in answer.text) == ("program_failed", True)


async def test_a_hanging_desktop_times_out(path):
    write_script(path, "notify-send", "exec sleep 600")
    assert await send(timeout=0.2) == ("failed", "timeout")


async def test_a_missing_notify_send_fails(path, monkeypatch):
    monkeypatch.setenv("PATH", str(path))
    assert await send() == ("failed", "no_program")


def test_on_macos_the_texts_are_script_arguments_and_not_code():
    words = build_argv(HOSTILE, "darwin")
    assert words[0] == "osascript"
    assert set(words[1:-3:2]) == {"-e"}
    assert words[-3:] == ["--", HOSTILE.title, HOSTILE.body]
