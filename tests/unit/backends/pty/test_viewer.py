"""The viewer in a real terminal, attached to a real program through the real host."""

import fcntl
import os
import pty
import shlex
import signal
import struct
import subprocess
import sys
import termios
import threading

import msgspec
import pytest

from termvisor.backends.pty.ghostty_library import find_library
from termvisor.backends.pty.ghostty_model import build_ghostty_model
from termvisor.backends.pty.viewer.attach_file import read_attach_file, write_attach_file
from termvisor.backends.pty.viewer.person_terminal import RESTORE_SEQUENCE
from termvisor.backends.pty.viewer.query_filter import QueryFilter
from termvisor.model.terminal.pane import PaneFacts
from termvisor.settings import Settings
from tests.unit.wait_until import wait_until


class Person:
    """A terminal with the viewer in it; ``shown`` is all that it has received."""

    def __init__(self, command: tuple[str, ...], rows: int = 24, columns: int = 80):
        self.master, slave = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        self.shown = b""
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        # Reading fails once the test closes its own end of the terminal.
        try:
            while data := os.read(self.master, 1 << 16):
                self.shown += data
        except OSError:
            return

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, data: bytes) -> None:
        os.write(self.master, data)

    async def wait_for(self, text: bytes) -> None:
        await wait_until(lambda: text in self.shown)

    async def leave(self) -> int:
        """Wait until the viewer has ended; return its exit status."""
        await wait_until(lambda: self.process.poll() is not None)
        assert termios.tcgetattr(self.slave) == self.before
        return self.process.returncode

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.slave)
        self._thread.join()
        os.close(self.master)


@pytest.fixture
def attach(scene):
    people = []

    def start(pane, rows: int = 24, columns: int = 80) -> Person:
        facts = PaneFacts(mux_id=pane, pid=scene.get_pid(pane))
        plan = scene.backend.plan_attach(scene.server.instance, facts)
        people.append(Person(plan.outside, rows, columns))
        return people[-1]

    yield start
    for person in people:
        person.close()


async def test_the_screen_is_shown_then_what_follows_and_keys_reach_the_program(scene, attach):
    pane = await scene.spawn("sh", "-c", "echo before; cat")
    await scene.wait_for_row(pane, "before")
    person = attach(pane)
    await person.wait_for(b"before")
    person.type("é typed\r".encode())
    await person.wait_for("é typed\r\né typed".encode())
    person.type(b"\x1c")
    assert await person.leave() == 0
    assert RESTORE_SEQUENCE in person.shown and person.shown.endswith(b"[detached]\r\n")
    await wait_until(lambda: scene.server.find_program(pane).viewers == 0)


async def test_the_terminal_gets_the_size_of_the_smallest_viewer(scene, attach):
    pane = await scene.spawn("sh", "-c", "echo up; cat")
    large, small = attach(pane, 50, 150), attach(pane, 30, 100)
    await wait_until(
        lambda: (scene.server.find_program(pane).rows, scene.server.find_program(pane).columns) == (30, 100)
    )
    small.type(b"\x1c")
    await small.leave()
    await wait_until(
        lambda: (scene.server.find_program(pane).rows, scene.server.find_program(pane).columns) == (50, 150)
    )
    large.resize(20, 60)
    await wait_until(
        lambda: (scene.server.find_program(pane).rows, scene.server.find_program(pane).columns) == (20, 60)
    )


async def test_the_last_one_who_typed_decides_the_size_if_the_setting_says_so(scene, attach):
    scene.backend._get_settings = lambda: Settings(attach_size="latest")
    pane = await scene.spawn("cat")
    first, second = attach(pane, 30, 100), attach(pane, 20, 60)
    await wait_until(lambda: scene.server.find_program(pane).viewers == 2)
    first.type(b"a")
    await second.wait_for(b"a")
    assert scene.server.find_program(pane).columns == 100
    second.type(b"b")
    await wait_until(lambda: scene.server.find_program(pane).columns == 60)
    await first.wait_for(b"ab")


async def test_a_person_who_types_is_seen_by_the_gate(scene, attach):
    pane = await scene.spawn("cat")
    person = attach(pane)
    await wait_until(lambda: scene.server.find_program(pane).viewers == 1)
    before = scene.server.find_program(pane).typed_at
    person.type(b"x")
    await wait_until(lambda: scene.server.find_program(pane).typed_at > before)
    state = await scene.control.read_pane_state(pane)
    assert [viewer.typed_at for viewer in state.viewers] == [scene.server.find_program(pane).typed_at]


async def test_queries_and_their_answers_stay_away_from_the_person(scene, attach):
    code = (
        "import os,tty; tty.setraw(0); os.read(0, 1)\n"
        "os.write(1, b'\\x1b[cquery\\x1b]11;?\\x07\\x1b]7501;?\\x07.'); os.read(0, 99)"
    )
    pane = await scene.spawn(sys.executable, "-ISc", code)
    person = attach(pane)
    await wait_until(lambda: scene.server.find_program(pane).viewers == 1)
    person.type(b"g")
    await person.wait_for(b"query.")


async def test_the_end_of_the_program_ends_the_viewer_after_its_last_output(scene, attach):
    pane = await scene.spawn("sh", "-c", "read x; echo last words")
    person = attach(pane)
    await wait_until(lambda: scene.server.find_program(pane).viewers == 1)
    person.type(b"\r")
    assert await person.leave() == 0
    assert b"last words" in person.shown and person.shown.endswith(b"[the program has ended]\r\n")


async def test_viewers_work_on_while_no_daemon_runs(scene, attach, sandbox):
    pane = await scene.spawn("cat")
    person = attach(pane)
    await wait_until(lambda: scene.server.find_program(pane).viewers == 1)
    scene.backend.client.close()
    person.type(b"still\r")
    await person.wait_for(b"still\r\nstill")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
async def test_the_terminal_is_restored_when_a_signal_ends_the_viewer(scene, attach, number):
    pane = await scene.spawn("cat")
    person = attach(pane)
    await wait_until(lambda: scene.server.find_program(pane).viewers == 1)
    person.process.send_signal(number)
    await person.leave()
    assert RESTORE_SEQUENCE in person.shown


async def test_the_screen_of_a_person_is_the_one_of_the_model(scene, attach):
    pane = await scene.spawn("bash", "--norc", "--noprofile", "-i", env={"PS1": "$ "})
    person = attach(pane, 24, 80)
    await wait_until(lambda: scene.server.find_program(pane).viewers == 1)
    person.type(b"printf 'one\\ntwo\\n'; seq 40; printf '\\033[31mred\\033[0m\\n'\r")
    await person.wait_for(b"red\x1b[0m\r\n")
    await scene.wait_for_row(pane, "red")
    model = build_ghostty_model(find_library(), 80, 24)
    model.feed(person.shown)
    shown, own = model.read_screen(), await scene.server.capture_pane(pane)
    assert [row.rstrip() for row in shown.rows] == [row.rstrip() for row in own.rows]
    model.close()


async def test_a_wrong_token_shows_and_types_nothing(scene, folder):
    pane = await scene.spawn("cat")
    plan = scene.backend.plan_attach(scene.server.instance, PaneFacts(mux_id=pane, pid=scene.get_pid(pane)))
    path = plan.outside[-1]
    assert (os.stat(path).st_mode & 0o777, shlex.join(plan.outside).count(pane)) == (0o600, 0)
    forged = msgspec.structs.replace(read_attach_file(path), token="0" * 32)
    write_attach_file(f"{folder}/forged", forged)
    person = Person((*plan.outside[:-1], f"{folder}/forged"))
    await wait_until(lambda: person.process.poll() is not None)
    assert b"refused" in person.shown
    person.close()


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        (b"plain", b"plain"),
        (b"a\x1b[cb\x1b[>0cc\x1b[6nd\x1b[?996ne", b"abcde"),
        (b"\x1b[?2026$p\x1b[>0q\x1b[?u\x1b[18t\x05\x1bZ", b""),
        (b"\x1b]11;?\x07\x1b]4;1;?\x1b\\\x1b]52;c;?\x07\x1b]7501;?\x07", b""),
        (b"\x1bP+q544e\x1b\\\x1bP$qm\x1b\\\x1b_Gi=1,a=q;AAAA\x1b\\", b""),
        (b"\x1b[31mred\x1b[0m\x1b]0;t?\x07\x1b[>1u\x1b[?2004h", b"\x1b[31mred\x1b[0m\x1b]0;t?\x07\x1b[>1u\x1b[?2004h"),
        (b"\x1b]8;;http://x/?q=1\x1b\\link", b"\x1b]8;;http://x/?q=1\x1b\\link"),
    ],
)
def test_only_queries_are_removed_wherever_chunks_end(sent, shown):
    for cut in range(len(sent) + 1):
        query_filter = QueryFilter()
        parts = query_filter.filter_chunk(sent[:cut]), query_filter.filter_chunk(sent[cut:]), query_filter.flush()
        assert b"".join(parts) == shown
