"""Fixtures: clients of a real tmux server, closed after the test."""

from collections.abc import Callable

import pytest

from termvisor.backends.tmux.control_client import ControlClient, build_output_argv
from termvisor.backends.tmux.control_mode import ControlNotice
from termvisor.backends.tmux.native_client import NativeClient
from termvisor.backends.tmux.plain_client import PlainClient
from termvisor.testing.private_tmux import PrivateTmux
from tests.unit.wait_until import wait_until


@pytest.fixture
async def pane(tmux: PrivateTmux) -> str:
    """Return the tmux id of a pane that shows one word and prints nothing more."""
    mux_id = tmux.start_session(command="printf 'ready\\n'; exec sleep 1000")
    await wait_until(lambda: tmux("capture-pane", "-p", "-t", mux_id).strip() == "ready")
    return mux_id


@pytest.fixture
def notices() -> list[ControlNotice]:
    """Collect the notices of the clients."""
    return []


@pytest.fixture
async def control(tmux: PrivateTmux, notices: list[ControlNotice]):
    """Return a function that makes control clients, by default of the session `work`."""
    clients: list[ControlClient] = []

    def make(session: str = "=work:", tap: Callable | None = None) -> ControlClient:
        argv = build_output_argv("tmux", tmux.socket, session)
        clients.append(ControlClient(argv, on_notice=notices.append, on_item=tap))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


@pytest.fixture
def plain(tmux: PrivateTmux) -> PlainClient:
    return PlainClient("tmux", tmux.socket, count_fork=lambda: None)


@pytest.fixture
async def native(tmux: PrivateTmux):
    client = NativeClient(tmux.socket)
    yield client
    client.close()
