"""Notice changes of a real tmux server from the kernel alone."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from termvisor.backends.tmux.native_client import NativeClient
from termvisor.backends.tmux.pane_source import TmuxServer, identify_server
from termvisor.backends.tmux.server_activity import ServerActivity
from tests.unit.wait_until import wait_until


class ObservedServer:
    """A server, its observer, and the panes of the last listing."""

    def __init__(self, server: TmuxServer):
        self.server, self.exits = server, []
        self.activity = ServerActivity(server.instance.pid, lambda: self.exits.append(True))

    async def list_panes(self) -> None:
        self.panes = await self.server.list_pane_facts()
        self.activity.detect_pane_changes(self.panes)

    def has_changed(self) -> bool:
        return self.activity.detect_pane_changes(self.panes)


@pytest.fixture
def cat(tmux) -> str:
    """The tmux id of a pane that runs `cat`."""
    return tmux.start_session(command="cat")


@pytest.fixture
async def observed(tmux, cat) -> AsyncIterator[ObservedServer]:
    server = ObservedServer(await identify_server(NativeClient(tmux.socket), tmux.socket))
    await server.list_panes()
    # A new child is looked at several times, because it opens its terminal after it was started.
    for _ in range(3):
        server.has_changed()
    yield server
    server.activity.close()


async def test_a_server_that_did_nothing_has_not_run(tmux, observed):
    await wait_until(lambda: not observed.activity.has_run())
    tmux("display-message", "-p", "x")
    assert observed.activity.has_run()
    await wait_until(lambda: not observed.activity.has_run())


async def test_nothing_changes_by_itself(observed):
    assert not any(observed.has_changed() for _ in range(5))


@pytest.mark.parametrize("command", ["split-window", "new-window", "new-session"])
async def test_a_new_pane_is_seen(tmux, observed, command):
    tmux(command, "-d", "cat")
    await wait_until(observed.has_changed)


async def test_a_pane_that_exits_is_seen(tmux, cat, observed):
    other = tmux.open_window("work", "cat")
    await observed.list_panes()
    tmux("kill-pane", "-t", other)
    await wait_until(observed.has_changed)


async def test_every_pane_that_dies_and_remains_is_seen(tmux, cat, observed):
    tmux("set", "-g", "remain-on-exit", "on")
    for _ in range(12):
        other = tmux.open_window("work", "cat")
        await observed.list_panes()
        tmux("send-keys", "-t", other, "C-d")
        await wait_until(observed.has_changed, timeout=3)


async def test_a_respawned_pane_is_seen(tmux, cat, observed):
    tmux("respawn-pane", "-k", "-t", cat, "cat")
    await wait_until(observed.has_changed)


async def test_a_resize_is_seen_once(tmux, cat, observed):
    tmux("resize-window", "-t", cat, "-x", "70", "-y", "20")
    await wait_until(observed.has_changed)
    assert not observed.has_changed()
    tmux("resize-window", "-t", cat, "-x", "70", "-y", "21")
    await wait_until(observed.has_changed)


async def test_a_job_of_the_server_is_no_pane(tmux, cat, observed):
    tmux("run-shell", "-b", "exec sleep 5")
    tmux("pipe-pane", "-t", cat, "exec cat > /dev/null")
    assert not any(observed.has_changed() for _ in range(5))


async def test_the_exit_of_the_server_is_reported_at_once_and_once(tmux, observed):
    tmux.kill_server()
    await wait_until(lambda: observed.exits)
    await asyncio.sleep(0)
    assert observed.exits == [True]


async def test_a_process_that_does_not_exist_is_unknown():
    activity = ServerActivity(2**22 + 1, lambda: None)
    assert activity.has_run()
    assert not activity.detect_pane_changes([])
    activity.close()
