"""The daemon's link to a real recorder, and the command that a real tmux runs."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

import pytest

import termvisor
from termvisor.capture import recorder_client
from termvisor.capture.recorder_client import (
    RecordedStream,
    RecorderClient,
    RecorderDied,
    StreamEnded,
    StreamGrew,
    StreamOpened,
)
from termvisor.errors import Unavailable
from termvisor.recorder.segment_log import SegmentReader
from termvisor.settings import Paths, Settings, make_instance_folders


class Desk:
    """A place for one recorder, the links to it, and what they told."""

    def __init__(self, path: str):
        self.path = path
        self.places = Paths(f"{path}/config", f"{path}/data", f"{path}/run")
        make_instance_folders(self.places)
        self.told: asyncio.Queue = asyncio.Queue()
        self.links: list[RecorderClient] = []

    def link(self, tell=None) -> RecorderClient:
        self.links.append(RecorderClient(self.places, Settings(segment_bytes=4096), tell or self.told.put_nowait))
        return self.links[-1]

    def hold(self, name: str) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as helper:
            helper.connect(self.places.recorder_socket)
            socket.send_fds(helper, [f"hold {name}".encode()], [theirs.fileno()])
            assert helper.recv(100) == b"ok\n"
        return ours

    async def until(self, news) -> list:
        heard = [await asyncio.wait_for(self.told.get(), 20)]
        while heard[-1] != news:
            heard.append(await asyncio.wait_for(self.told.get(), 20))
        return heard

    def content(self, name: str) -> bytes:
        reader = SegmentReader(f"{self.places.raw_dir}/{name}")
        whole = b"".join(data for _, data, _ in reader.read_pieces(0, 1 << 30))
        reader.close()
        return whole

    async def close(self) -> None:
        for link in reversed(self.links):
            await link.quit()
        shutil.rmtree(self.path)


@pytest.fixture
async def desk():
    # Not tmp_path: a socket's path may have 107 bytes.
    desk = Desk(tempfile.mkdtemp(prefix="tv"))
    yield desk
    await desk.close()


async def test_a_recorder_is_started_and_tells_a_stream_from_hold_to_end(desk):
    link = desk.link()
    assert not link.is_connected
    assert await link.start() == {}
    assert link.is_connected and link.pid
    pipe = desk.hold("7/12")
    await desk.until(StreamOpened(12))
    pipe.sendall(b"hello")
    await desk.until(StreamGrew(12, 5))
    assert link.streams == {12: RecordedStream(7, 12, 5, "open")}
    pipe.close()
    await desk.until(StreamEnded(12, 5, False))
    assert desk.content("7/12") == b"hello"
    link.forget_stream(12)
    assert link.streams == {}


async def test_starting_twice_is_starting_once(desk):
    link = desk.link()
    await link.start()
    pid = link.pid
    await link.start()
    assert link.pid == pid


async def test_another_link_finds_the_running_recorder_and_its_streams(desk):
    first, second = desk.link(), desk.link()
    await first.start()
    pipe = desk.hold("1/2")
    pipe.sendall(b"abc")
    await desk.until(StreamGrew(2, 3))
    first.close()
    assert await second.start() == {2: RecordedStream(1, 2, 3, "open")}
    pipe.close()


async def test_of_two_links_that_start_at_once_both_reach_the_same_recorder(desk):
    first, second = desk.link(), desk.link()
    pids = []
    for outcome in await asyncio.gather(first.start(), second.start(), return_exceptions=True):
        assert outcome == {}
        pids += [link.pid for link in (first, second) if link.pid]
    assert len(set(pids)) == 1


async def test_a_dropped_stream_ends(desk):
    link = desk.link()
    await link.start()
    pipe = desk.hold("1/2")
    await desk.until(StreamOpened(2))
    link.drop_stream(2)
    await desk.until(StreamEnded(2, 0, False))
    assert pipe.recv(1) == b""
    pipe.close()


async def test_a_killed_recorder_is_told_once_and_can_be_started_again(desk):
    link = desk.link()
    await link.start()
    first = link.pid
    pipe = desk.hold("1/2")
    os.kill(first, signal.SIGKILL)
    assert (await desk.until(RecorderDied()))[-1] == RecorderDied()
    assert (link.is_connected, link.pid) == (False, None)
    link.drop_stream(2)
    assert await link.start() == {}
    assert link.pid != first
    assert desk.told.empty()
    pipe.close()


async def test_re_execution_keeps_the_process_and_loses_nothing(desk):
    link = desk.link()
    await link.start()
    pid = link.pid
    pipe, other = desk.hold("1/2"), desk.hold("1/3")
    pipe.sendall(b"before ")
    await desk.until(StreamGrew(2, 7))
    os.kill(pid, signal.SIGSTOP)
    becoming = asyncio.ensure_future(link.reexec())
    pipe.sendall(b"meanwhile ")
    other.close()
    os.kill(pid, signal.SIGCONT)
    await becoming
    assert link.pid == pid
    pipe.sendall(b"after")
    await desk.until(StreamGrew(2, 22))
    assert link.streams[3].state == "ended"
    assert desk.content("1/2") == b"before meanwhile after"
    pipe.close()


async def test_what_is_said_during_a_re_execution_reaches_the_successor(desk):
    link = desk.link()
    await link.start()
    dropped, ended = desk.hold("1/2"), desk.hold("1/3")
    ended.close()
    await desk.until(StreamEnded(3, 0, False))
    becoming = asyncio.ensure_future(link.reexec())
    while link._deferred_messages is None:
        await asyncio.sleep(0)
    link.drop_stream(2)
    link.forget(3)
    await becoming
    assert 3 not in link.streams
    assert await desk.until(StreamEnded(2, 0, False)) == [StreamEnded(2, 0, False)]
    dropped.close()


async def test_what_happened_during_a_re_execution_is_told_after_it(desk):
    link = desk.link()
    await link.start()
    grown, ended, unchanged = (RecordedStream(1, epoch, 5, "open") for epoch in (2, 3, 4))
    link._report_difference(grown, RecordedStream(1, 2, 6, "open"))
    link._report_difference(ended, RecordedStream(1, 3, 6, "capped"))
    link._tell_difference(unchanged, unchanged)
    link._tell_difference(None, RecordedStream(1, 5, 6, "ended"))
    told = [desk.told.get_nowait() for _ in range(desk.told.qsize())]
    assert told == [StreamGrew(2, 6), StreamEnded(3, 6, True), StreamOpened(5), StreamEnded(5, 6, False)]


async def test_a_program_that_does_not_start_is_not_become(desk):
    link = desk.link()
    await link.start()
    with pytest.raises(Unavailable, match="not found"):
        await link.reexec("/nowhere/python")
    with pytest.raises(Unavailable, match="No module named"):
        await link.reexec(sys.executable, "/nowhere")
    pipe = desk.hold("1/2")
    await desk.until(StreamOpened(2))
    pipe.close()


async def test_a_recorder_that_cannot_become_another_program_says_so_and_goes_on(desk, monkeypatch):
    monkeypatch.setattr(recorder_client, "_check_image", lambda python, root: None)
    link = desk.link()
    await link.start()
    with pytest.raises(Unavailable, match="failed reexec 2"):
        await link.reexec("/nowhere/python")
    assert link.is_connected
    pipe = desk.hold("1/2")
    await desk.until(StreamOpened(2))
    pipe.close()


async def test_a_successor_that_dies_is_a_lost_recorder(desk, monkeypatch):
    monkeypatch.setattr(recorder_client, "_check_image", lambda python, root: None)
    monkeypatch.setattr(recorder_client, "_RECORDER_TIMEOUT_S", 0.5)
    link = desk.link()
    await link.start()
    with pytest.raises(Unavailable, match="come back"):
        await link.reexec("/bin/false")
    assert desk.told.get_nowait() == RecorderDied()
    assert desk.told.empty()


async def test_quit_ends_the_recorder_and_is_not_a_loss(desk):
    link = desk.link()
    await link.start()
    pid = link.pid
    pipe = desk.hold("1/2")
    pipe.sendall(b"last words")
    await link.quit()
    assert desk.content("1/2") == b"last words"
    assert (os.path.exists(desk.places.recorder_socket), os.path.exists(f"/proc/{pid}")) == (False, False)
    assert RecorderDied() not in [desk.told.get_nowait() for _ in range(desk.told.qsize())]
    await link.quit()
    pipe.close()


async def test_a_recorder_that_speaks_another_version_is_named(desk, monkeypatch):
    await desk.link().start()
    monkeypatch.setattr(recorder_client, "PROTOCOL_VERSION", 2)
    with pytest.raises(Unavailable, match="version 1, not version 2"):
        await desk.link().start()
    monkeypatch.undo()


async def test_a_stopped_recorder_is_reported_and_not_waited_for_for_ever(desk, monkeypatch):
    first, second = desk.link(), desk.link()
    await first.start()
    pid = first.pid
    first.close()
    os.kill(pid, signal.SIGSTOP)
    monkeypatch.setattr(recorder_client, "_RECORDER_TIMEOUT_S", 0.2)
    with pytest.raises(Unavailable, match="did not answer"):
        await second.start()
    monkeypatch.undo()
    os.kill(pid, signal.SIGCONT)


async def test_words_to_a_stopped_recorder_wait_without_blocking(desk):
    link = desk.link()
    await link.start()
    pipe = desk.hold("1/2")
    await desk.until(StreamOpened(2))
    os.kill(link.pid, signal.SIGSTOP)
    for epoch in range(1000, 3000):
        link.forget_stream(epoch)
    link.drop_stream(2)
    os.kill(link.pid, signal.SIGCONT)
    await desk.until(StreamEnded(2, 0, False))
    pipe.close()


async def test_a_recorder_that_cannot_start_is_explained(desk):
    os.mkdir(desk.places.recorder_socket)
    with pytest.raises(Unavailable, match="ended at once with status 1") as caught:
        await desk.link().start()
    assert "recorder.log" in caught.value.hint
    desk.links.clear()


@pytest.fixture
def tmux(desk):
    """A private tmux server with one pane that runs cat."""
    base = ["tmux", "-S", f"{desk.path}/t", "-f", "/dev/null"]

    def run(*words: str) -> str:
        return subprocess.run([*base, *words], check=True, capture_output=True, text=True).stdout.strip()

    run("new-session", "-d", "-s", "s", "-x", "80", "-y", "24", "stty -echo; cat")
    yield run
    subprocess.run([*base, "kill-server"], check=False, capture_output=True)


@pytest.mark.parametrize("folder", ["plain", "a b'c\"d", "#{pid} #S #[x] ## %H%% %", "$HOME `x` \\ ;"])
async def test_tmux_runs_the_handoff_command_whatever_the_paths_are(desk, tmux, monkeypatch, folder):
    root = f"{desk.path}/{folder}"
    shutil.copytree(
        f"{os.path.dirname(termvisor.__file__)}/recorder",
        f"{root}/termvisor/recorder",
        ignore=lambda *_: {"__pycache__"},
    )
    monkeypatch.setattr(recorder_client, "_PACKAGE_ROOT", root)
    desk.places = Paths(desk.places.config_dir, desk.places.data_dir, f"{root}/run")
    make_instance_folders(desk.places)
    link = desk.link()
    await link.start()
    tmux("pipe-pane", "-O", "-t", "s:", link.build_handoff_command(3, 4))
    await desk.until(StreamOpened(4))
    tmux("send-keys", "-t", "s:", "-l", "marker")
    tmux("send-keys", "-t", "s:", "Enter")
    await desk.until(StreamGrew(4, 8))
    assert desk.content("3/4") == b"marker\r\n"
    tmux("pipe-pane", "-t", "s:")
    await desk.until(StreamEnded(4, 8, False))
