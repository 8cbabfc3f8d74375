"""Fixtures: clients of a real tmux server, closed after the test."""

from collections.abc import Callable

import pytest

from termvisor.backends.tmux.client import ControlClient, PlainClient, build_control_argv
from termvisor.backends.tmux.control_mode import ControlNotice
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
    """Return a function that makes control clients, by default on the private session."""
    clients: list[ControlClient] = []

    def make(argv: list[str] | None = None, tap: Callable | None = None) -> ControlClient:
        clients.append(
            ControlClient(argv or build_control_argv("tmux", tmux.socket), on_notice=notices.append, on_item=tap)
        )
        return clients[-1]

    yield make
    for client in clients:
        client.close()


@pytest.fixture
def plain(tmux: PrivateTmux) -> PlainClient:
    return PlainClient("tmux", tmux.socket, count_fork=lambda: None)
