"""RecorderClient with a real recorder process, and the hand-off command run by a real tmux."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from typing import NamedTuple

import pytest
from msgspec.structs import replace

import termvisor
from termvisor.backends.tmux.watched_server import build_pipe_command
from termvisor.capture import recorder_client
from termvisor.capture.recorder_client import (
    RecordedStream,
    RecorderClient,
    RecorderDied,
)
from termvisor.errors import Conflict, Unavailable
from termvisor.model.ids import EpochId
from termvisor.recorder.segment_log import SegmentReader
from termvisor.recorder.startup import get_lock_path
from termvisor.settings import Paths, Settings, make_instance_folders
from termvisor.system import files


class StreamGrew(NamedTuple):
    """A report of growth, queued in order with the updates."""

    epoch: EpochId
    size: int


class ClientSandbox:
    """A private folder for one recorder, its clients and their reports in order."""

    def __init__(self, path: str):
        self.path = path
        self.paths = Paths(f"{path}/config", f"{path}/data", f"{path}/run")
        make_instance_folders(self.paths)
        self.updates: asyncio.Queue = asyncio.Queue()
        self.clients: list[RecorderClient] = []

    def make_client(self, on_update=None) -> RecorderClient:
        client = RecorderClient(self.paths, Settings(segment_bytes=4096), self._note_growth)
        client.on_update = on_update or self.updates.put_nowait
        self.clients.append(client)
        return client

    def _note_growth(self, epoch: EpochId, size: int) -> None:
        self.updates.put_nowait(StreamGrew(epoch, size))

    def open_pipe(self, name: str) -> socket.socket:
        client_end, recorder_end = socket.socketpair()
        with recorder_end, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as helper:
            helper.connect(self.paths.recorder_socket)
            socket.send_fds(helper, [f"hold {name}".encode()], [recorder_end.fileno()])
            assert helper.recv(100) == b"ok\n"
        return client_end

    async def wait_for(self, expected) -> list:
        updates = [await asyncio.wait_for(self.updates.get(), 20)]
        while updates[-1] != expected:
            updates.append(await asyncio.wait_for(self.updates.get(), 20))
        return updates

    def read_content(self, name: str) -> bytes:
        reader = SegmentReader(f"{self.paths.raw_dir}/{name}")
        content = b"".join(data for _, data, _ in reader.read_pieces(0, 1 << 30))
        reader.close()
        return content

    async def close(self) -> None:
        for client in reversed(self.clients):
            await client.quit()
        shutil.rmtree(self.path)


@pytest.fixture
async def sandbox():
    # Not tmp_path: a socket's path may have 107 bytes.
    sandbox = ClientSandbox(tempfile.mkdtemp(prefix="tv"))
    yield sandbox
    await sandbox.close()


async def test_a_recorder_is_started_and_reports_a_stream_from_open_to_end(sandbox):
    client = sandbox.make_client()
    assert not client.is_connected
    assert await client.start() == {}
    assert client.is_connected and client.pid
    pipe = sandbox.open_pipe("7/12")
    await sandbox.wait_for(RecordedStream(7, 12, 0, "open"))
    pipe.sendall(b"hello")
    await sandbox.wait_for(StreamGrew(12, 5))
    assert client.streams == {12: RecordedStream(7, 12, 5, "open")}
    pipe.close()
    await sandbox.wait_for(RecordedStream(7, 12, 5, "ended"))
    assert sandbox.read_content("7/12") == b"hello"
    client.forget_stream(12)
    assert client.streams == {}


async def test_starting_twice_starts_one_recorder(sandbox):
    client = sandbox.make_client()
    await client.start()
    pid = client.pid
    await client.start()
    assert client.pid == pid


async def test_another_client_finds_the_running_recorder_and_its_streams(sandbox):
    first, second = sandbox.make_client(), sandbox.make_client()
    await first.start()
    pipe = sandbox.open_pipe("1/2")
    pipe.sendall(b"abc")
    await sandbox.wait_for(StreamGrew(2, 3))
    first.close()
    assert await second.start() == {2: RecordedStream(1, 2, 3, "open")}
    pipe.close()


async def test_two_clients_that_start_at_once_reach_the_same_recorder(sandbox):
    first, second = sandbox.make_client(), sandbox.make_client()
    pids = []
    for outcome in await asyncio.gather(first.start(), second.start(), return_exceptions=True):
        assert outcome == {}
        pids += [client.pid for client in (first, second) if client.pid]
    assert len(set(pids)) == 1


async def test_a_dropped_stream_ends(sandbox):
    client = sandbox.make_client()
    await client.start()
    pipe = sandbox.open_pipe("1/2")
    await sandbox.wait_for(RecordedStream(1, 2, 0, "open"))
    client.drop_stream(2)
    await sandbox.wait_for(RecordedStream(1, 2, 0, "ended"))
    assert pipe.recv(1) == b""
    pipe.close()


async def test_a_killed_recorder_is_reported_once_and_can_be_restarted(sandbox):
    client = sandbox.make_client()
    await client.start()
    first = client.pid
    pipe = sandbox.open_pipe("1/2")
    os.kill(first, signal.SIGKILL)
    assert (await sandbox.wait_for(RecorderDied()))[-1] == RecorderDied()
    assert (client.is_connected, client.pid) == (False, None)
    client.drop_stream(2)
    assert await client.start() == {}
    assert client.pid != first
    assert sandbox.updates.empty()
    pipe.close()


async def test_a_reexec_keeps_the_process_and_loses_no_bytes(sandbox):
    client = sandbox.make_client()
    await client.start()
    pid = client.pid
    pipe, other = sandbox.open_pipe("1/2"), sandbox.open_pipe("1/3")
    pipe.sendall(b"before ")
    await sandbox.wait_for(StreamGrew(2, 7))
    os.kill(pid, signal.SIGSTOP)
    reexec = asyncio.ensure_future(client.reexec())
    pipe.sendall(b"meanwhile ")
    other.close()
    os.kill(pid, signal.SIGCONT)
    await reexec
    assert client.pid == pid
    pipe.sendall(b"after")
    await sandbox.wait_for(StreamGrew(2, 22))
    assert client.streams[3].state == "ended"
    assert sandbox.read_content("1/2") == b"before meanwhile after"
    pipe.close()


async def test_messages_during_a_reexec_reach_the_new_recorder(sandbox):
    client = sandbox.make_client()
    await client.start()
    dropped, ended = sandbox.open_pipe("1/2"), sandbox.open_pipe("1/3")
    ended.close()
    await sandbox.wait_for(RecordedStream(1, 3, 0, "ended"))
    reexec = asyncio.ensure_future(client.reexec())
    while client._deferred_messages is None:
        await asyncio.sleep(0)
    client.drop_stream(2)
    client.forget_stream(3)
    await reexec
    assert 3 not in client.streams
    assert await sandbox.wait_for(RecordedStream(1, 2, 0, "ended")) == [RecordedStream(1, 2, 0, "ended")]
    dropped.close()


async def test_changes_during_a_reexec_are_reported_after_it(sandbox):
    client = sandbox.make_client()
    await client.start()
    grown, ended, unchanged = (RecordedStream(1, epoch, 5, "open") for epoch in (2, 3, 4))
    client._report_difference(grown, RecordedStream(1, 2, 6, "open"))
    client._report_difference(ended, RecordedStream(1, 3, 6, "capped"))
    client._report_difference(unchanged, unchanged)
    client._report_difference(None, RecordedStream(1, 5, 6, "ended"))
    updates = [sandbox.updates.get_nowait() for _ in range(sandbox.updates.qsize())]
    assert updates == [
        StreamGrew(2, 6),
        RecordedStream(1, 3, 6, "capped"),
        RecordedStream(1, 5, 6, "open"),
        RecordedStream(1, 5, 6, "ended"),
    ]


async def test_a_successor_that_cannot_start_is_not_executed(sandbox):
    client = sandbox.make_client()
    await client.start()
    with pytest.raises(Unavailable, match="not found"):
        await client.reexec("/nowhere/python")
    with pytest.raises(Unavailable, match="No module named"):
        await client.reexec(sys.executable, "/nowhere")
    pipe = sandbox.open_pipe("1/2")
    await sandbox.wait_for(RecordedStream(1, 2, 0, "open"))
    pipe.close()


async def test_a_failed_reexec_is_reported_and_the_recorder_keeps_running(sandbox, monkeypatch):
    monkeypatch.setattr(recorder_client, "_check_image", lambda python, root: None)
    client = sandbox.make_client()
    await client.start()
    with pytest.raises(Unavailable, match="failed reexec 2"):
        await client.reexec("/nowhere/python")
    assert client.is_connected
    pipe = sandbox.open_pipe("1/2")
    await sandbox.wait_for(RecordedStream(1, 2, 0, "open"))
    pipe.close()


async def test_a_successor_that_dies_is_a_lost_recorder(sandbox, monkeypatch):
    monkeypatch.setattr(recorder_client, "_check_image", lambda python, root: None)
    monkeypatch.setattr(recorder_client, "_RECORDER_TIMEOUT_S", 0.5)
    client = sandbox.make_client()
    await client.start()
    with pytest.raises(Unavailable, match="come back"):
        await client.reexec("/bin/false")
    assert sandbox.updates.get_nowait() == RecorderDied()
    assert sandbox.updates.empty()


async def test_quit_ends_the_recorder_and_is_not_a_loss(sandbox):
    client = sandbox.make_client()
    await client.start()
    pid = client.pid
    pipe = sandbox.open_pipe("1/2")
    pipe.sendall(b"last words")
    await client.quit()
    assert sandbox.read_content("1/2") == b"last words"
    assert (os.path.exists(sandbox.paths.recorder_socket), os.path.exists(f"/proc/{pid}")) == (False, False)
    assert RecorderDied() not in [sandbox.updates.get_nowait() for _ in range(sandbox.updates.qsize())]
    await client.quit()
    pipe.close()


async def test_a_recorder_with_another_protocol_version_is_an_error(sandbox, monkeypatch):
    await sandbox.make_client().start()
    monkeypatch.setattr(recorder_client, "PROTOCOL_VERSION", 2)
    with pytest.raises(Unavailable, match="version 1, not version 2"):
        await sandbox.make_client().start()
    monkeypatch.undo()


async def test_a_stopped_recorder_is_reported_after_the_timeout(sandbox, monkeypatch):
    first, second = sandbox.make_client(), sandbox.make_client()
    await first.start()
    pid = first.pid
    first.close()
    os.kill(pid, signal.SIGSTOP)
    monkeypatch.setattr(recorder_client, "_RECORDER_TIMEOUT_S", 0.2)
    with pytest.raises(Unavailable, match="did not answer"):
        await second.start()
    monkeypatch.undo()
    os.kill(pid, signal.SIGCONT)


async def test_messages_to_a_stopped_recorder_are_buffered_without_blocking(sandbox):
    client = sandbox.make_client()
    await client.start()
    pipe = sandbox.open_pipe("1/2")
    await sandbox.wait_for(RecordedStream(1, 2, 0, "open"))
    os.kill(client.pid, signal.SIGSTOP)
    for epoch in range(1000, 3000):
        client.forget_stream(epoch)
    client.drop_stream(2)
    os.kill(client.pid, signal.SIGCONT)
    await sandbox.wait_for(RecordedStream(1, 2, 0, "ended"))
    pipe.close()


async def test_a_recorder_that_cannot_start_is_explained(sandbox):
    os.mkdir(sandbox.paths.recorder_socket)
    with pytest.raises(Unavailable, match="exited at once with status 1") as caught:
        await sandbox.make_client().start()
    assert "recorder.log" in caught.value.hint
    sandbox.clients.clear()


async def test_a_recorder_of_another_runtime_folder_is_refused_and_named(sandbox):
    await sandbox.make_client().start()
    held = sandbox.clients[0].pid
    used, sandbox.paths = sandbox.paths, replace(sandbox.paths, runtime_dir=f"{sandbox.path}/other")
    make_instance_folders(sandbox.paths)
    with pytest.raises(Conflict, match=f"pid {held}") as caught:
        await sandbox.make_client().start()
    assert f"VISOR_RUNTIME_DIR={used.runtime_dir} visor down" in caught.value.hint
    assert not os.path.exists(sandbox.paths.recorder_socket)


async def test_the_lock_of_the_raw_log_outlives_a_reexec(sandbox):
    client = sandbox.make_client()
    await client.start()
    lock = get_lock_path(sandbox.paths.raw_dir)
    await client.reexec()
    assert files.read_lock_holder(lock) == client.pid
    await client.quit()
    assert files.read_lock_holder(lock) is None


@pytest.fixture
def tmux(sandbox):
    """A private tmux server with one pane that runs cat."""
    base = ["tmux", "-S", f"{sandbox.path}/t", "-f", "/dev/null"]

    def run(*arguments: str) -> str:
        return subprocess.run([*base, *arguments], check=True, capture_output=True, text=True).stdout.strip()

    run("new-session", "-d", "-s", "s", "-x", "80", "-y", "24", "stty -echo; cat")
    yield run
    subprocess.run([*base, "kill-server"], check=False, capture_output=True)


@pytest.mark.parametrize("folder", ["plain", "a b'c\"d", "#{pid} #S #[x] ## %H%% %", "$HOME `x` \\ ;"])
async def test_tmux_runs_the_handoff_command_whatever_the_paths_are(sandbox, tmux, monkeypatch, folder):
    root = f"{sandbox.path}/{folder}"
    shutil.copytree(
        f"{os.path.dirname(termvisor.__file__)}/recorder",
        f"{root}/termvisor/recorder",
        ignore=lambda *_: {"__pycache__"},
    )
    monkeypatch.setattr(recorder_client, "_PACKAGE_ROOT", root)
    sandbox.paths = Paths(sandbox.paths.config_dir, sandbox.paths.data_dir, f"{root}/run")
    make_instance_folders(sandbox.paths)
    client = sandbox.make_client()
    await client.start()
    tmux("pipe-pane", "-O", "-t", "s:", build_pipe_command(client.plan_handoff(3, 4)))
    await sandbox.wait_for(RecordedStream(3, 4, 0, "open"))
    tmux("send-keys", "-t", "s:", "-l", "marker")
    tmux("send-keys", "-t", "s:", "Enter")
    await sandbox.wait_for(StreamGrew(4, 8))
    assert sandbox.read_content("3/4") == b"marker\r\n"
    tmux("pipe-pane", "-t", "s:")
    await sandbox.wait_for(RecordedStream(3, 4, 8, "ended"))
