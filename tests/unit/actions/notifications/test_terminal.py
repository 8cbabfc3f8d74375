"""The channel `terminal` with a real tmux client on a pty."""

import os
import pty
import select
import tty as modes
from contextlib import suppress

import pytest

from termvisor.actions.notifications import channels
from termvisor.actions.notifications.channels import encode_notice, open_terminal, send_to_terminals
from termvisor.backends.pane_control import AttachedClient
from termvisor.clock import SystemClock
from termvisor.errors import MuxError
from termvisor.model.action.notification import UserNotification
from termvisor.model.settings.notifications import NotificationSettings
from termvisor.testing.fake_clock import FakeClock
from tests.unit.actions.notifications.attached_client import attach_client

NOTICE = UserNotification(id="1", at="", title="build", text="it is done")
MESSAGE = b"\x1b]9;Termvisor: build: it is done\x07"


class ScriptedRecipients:
    """Attached clients with the ttys that a test gives."""

    def __init__(self, *ttys: str, error: MuxError | None = None):
        self._ttys, self._error = ttys, error

    async def list_clients(self):
        if self._error:
            raise self._error
        return [AttachedClient(tty, "%0", 0, True) for tty in self._ttys]


async def send(recipients: ScriptedRecipients, notice: UserNotification = NOTICE, **settings):
    sent = await send_to_terminals(recipients, SystemClock(), notice, NotificationSettings(**settings))
    return sent.status, sent.why


async def test_an_attached_terminal_gets_a_bell_and_a_message(tmux):
    tmux.start_session("work", "cat")
    with attach_client(tmux, "work") as person:
        assert await send(ScriptedRecipients(person.tty)) == ("done", "")
        await person.wait_for_output(b"\x07" + MESSAGE)


@pytest.mark.parametrize(
    ("kind", "data"), [("bell", b"\x07"), ("message", MESSAGE), ("both", b"\x07" + MESSAGE)], ids=str
)
def test_the_setting_selects_bell_message_or_both(kind, data):
    assert encode_notice(NOTICE, NotificationSettings(notify_terminal=kind), is_utf8=True) == data


@pytest.mark.parametrize(
    "title", ["4;1;50", "x\x07\x1b]0;owned", "x\x9c\x9b2J", "a\nb\x1b\\", "\x1bPtmux;\x1b\x1b]52;c;QQ\x07"]
)
def test_a_title_cannot_end_its_escape_sequence(title):
    data = encode_notice(
        UserNotification(id="1", at="", title=title), NotificationSettings(notify_terminal="message"), is_utf8=True
    )
    inner = data.removeprefix(b"\x1b]9;Termvisor").removesuffix(b"\x07")
    assert len(inner) == len(data) - len(b"\x1b]9;Termvisor\x07")
    assert inner.decode().isprintable()


def test_a_terminal_without_utf8_gets_ascii():
    data = encode_notice(UserNotification(id="1", at="", title="\u041c"), NotificationSettings(), is_utf8=False)
    assert b"Termvisor: ?" in data and max(data) < 128


async def test_no_attached_client_is_reported():
    assert await send(ScriptedRecipients()) == ("failed", "nobody_attached")


async def test_an_unresponsive_server_is_reported():
    assert await send(ScriptedRecipients(error=MuxError("it is busy"))) == ("failed", "no_answer")


async def test_only_terminals_of_this_user_are_written_to(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"mine")
    os.mkfifo(tmp_path / "fifo")
    assert await send(ScriptedRecipients(str(file), str(tmp_path / "fifo"), "/dev/null", "/nowhere")) == (
        "failed",
        "not_writable",
    )
    assert file.read_bytes() == b"mine"


def test_a_terminal_of_another_user_is_not_opened(monkeypatch):
    master, slave = pty.openpty()
    try:
        mine = open_terminal(os.ttyname(slave))
        assert mine is not None
        os.close(mine)
        monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)
        assert open_terminal(os.ttyname(slave)) is None
    finally:
        os.close(master)
        os.close(slave)


def open_full_terminal():
    """Open a terminal whose buffer is full because no program reads it."""
    master, slave = pty.openpty()
    modes.setraw(slave)
    os.set_blocking(slave, False)
    while select.select([], [slave], [], 0.2)[1]:
        with suppress(BlockingIOError):
            os.write(slave, b"." * 4096)
    with suppress(BlockingIOError):
        while os.write(slave, b"."):
            pass
    return master, slave


async def test_a_blocked_terminal_does_not_block():
    master, slave = open_full_terminal()
    try:
        assert await send(ScriptedRecipients(os.ttyname(slave))) == ("failed", "not_writable")
    finally:
        os.close(master)
        os.close(slave)


async def test_a_started_message_is_completed(monkeypatch):
    """The first write is partial; the rest is written once there is room."""
    master, slave = pty.openpty()
    modes.setraw(slave)
    real_write, calls = os.write, []

    def write_part(descriptor, data):
        calls.append(len(data))
        return real_write(descriptor, data[:5])

    clock = FakeClock()
    clock.sleep = lambda _seconds: SystemClock().sleep(0)
    try:
        monkeypatch.setattr(os, "write", write_part)
        sent = await send_to_terminals(ScriptedRecipients(os.ttyname(slave)), clock, NOTICE, NotificationSettings())
        monkeypatch.undo()
        assert sent.status == "done" and len(calls) > 2
        got = b""
        while len(got) < len(b"\x07" + MESSAGE):
            got += os.read(master, 200)
        assert got == b"\x07" + MESSAGE
    finally:
        os.close(master)
        os.close(slave)


async def test_a_terminal_that_closes_while_it_is_written_is_left_out(monkeypatch):
    pairs = [pty.openpty() for _ in range(2)]
    ttys = [os.ttyname(follower) for _, follower in pairs]
    real = channels._write_some

    def write_some(descriptor: int, data: bytes) -> int:
        if os.ttyname(descriptor) == ttys[0]:
            raise OSError(5, "closed")
        return real(descriptor, data)

    monkeypatch.setattr(channels, "_write_some", write_some)
    sent = await send_to_terminals(ScriptedRecipients(*ttys), SystemClock(), NOTICE, NotificationSettings())
    for descriptor in (one for pair in pairs for one in pair):
        os.close(descriptor)
    assert (sent.status, sent.text) == (
        "done",
        "written to 1 of 2 attached terminals; not every terminal shows it",
    )
