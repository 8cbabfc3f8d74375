"""Run the replay server only while it is used, unwatched and without leftovers."""

import os
import subprocess
import sys

import pytest

from termvisor.backends.tmux.replay_pane import PaneSize
from termvisor.backends.tmux.replay_server import ReplayServer
from termvisor.backends.tmux.server_sockets import is_server_listening, list_candidate_sockets
from termvisor.errors import Conflict, MuxError
from termvisor.settings import Paths, Settings
from termvisor.system.procfs import read_start_time
from termvisor.system.subprocesses import run_and_capture
from tests.unit.wait_until import wait_until

SIZE = PaneSize(20, 5)
OWNER = """
import asyncio, sys
from termvisor.backends.tmux.commands import TmuxCommand
from termvisor.backends.tmux.replay_pane import PaneSize
from termvisor.backends.tmux.replay_server import ReplayServer

async def main():
    async with ReplayServer("tmux", sys.argv[1]).open_pane(PaneSize(20, 5)) as replay_pane:
        await replay_pane.feed(b"x")
        command = TmuxCommand("display-message", "-p", "-t", replay_pane._pane, "#{pid} #{pane_pid}")
        print((await replay_pane._client.request(command)).lines[0].decode(), flush=True)
        await asyncio.sleep(1000)

asyncio.run(main())
"""


async def test_the_server_exits_with_its_last_pane_and_leaves_no_files(folder: str) -> None:
    replay_server = ReplayServer("tmux", f"{folder}/render")
    async with replay_server.open_pane(SIZE):
        async with replay_server.open_pane(SIZE) as second:
            await second.feed(b"x")
        assert replay_server.is_open
        assert is_server_listening(f"{folder}/render")
    assert not replay_server.is_open
    assert os.listdir(folder) == []


async def test_the_server_exits_when_its_owner_is_killed(folder: str) -> None:
    with subprocess.Popen([sys.executable, "-c", OWNER, f"{folder}/render"], stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        pids = [int(word) for word in owner.stdout.readline().split()]
        assert len(pids) == 2
        assert all(map(read_start_time, pids))
        owner.kill()
    await wait_until(lambda: not any(map(read_start_time, pids)))
    assert not is_server_listening(f"{folder}/render")
    async with ReplayServer("tmux", f"{folder}/render").open_pane(SIZE) as replay_pane:
        await replay_pane.feed(b"a socket that was left behind does not matter")


async def test_after_a_crash_the_next_replay_pane_has_a_new_server(folder: str) -> None:
    replay_server = ReplayServer("tmux", f"{folder}/render")
    async with replay_server.open_pane(SIZE) as replay_pane:
        replay_server._server.child.kill()
        with pytest.raises(MuxError):
            await replay_pane.feed(b"x" * 100_000)
        async with replay_server.open_pane(SIZE) as other:
            await other.feed(b"drawn")
    assert not replay_server.is_open


async def test_the_number_of_replays_is_limited(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("termvisor.backends.tmux.replay_server._MAX_PANES", 1)
    replay_server = ReplayServer("tmux", f"{folder}/render")
    async with replay_server.open_pane(SIZE):
        with pytest.raises(Conflict):
            async with replay_server.open_pane(SIZE):
                pass


async def test_a_missing_tmux_is_an_error(folder: str) -> None:
    replay_server = ReplayServer(f"{folder}/none", f"{folder}/render")
    with pytest.raises(MuxError):
        async with replay_server.open_pane(SIZE):
            pass


async def test_a_recording_cannot_reach_the_clipboard_or_the_outer_terminal(folder: str) -> None:
    replay_server = ReplayServer("tmux", f"{folder}/render")
    async with replay_server.open_pane(SIZE) as replay_pane:
        await replay_pane.feed(b"\x1b]52;c;c2VjcmV0\x07\x1bPtmux;\x1b\x1b]52;c;c2VjcmV0\x07\x1b\\\x07done")
        status, buffers, _ = run_and_capture(["tmux", "-S", f"{folder}/render", "list-buffers"])
        assert (status, buffers) == (0, b"")
        assert (await replay_pane.capture_pane()).rows[0].startswith("done")


def test_the_replay_server_is_not_watched(folder: str) -> None:
    places = Paths(folder, folder, folder)
    assert places.render_socket not in list_candidate_sockets(places, Settings(tmux_sockets=(places.render_socket,)))
