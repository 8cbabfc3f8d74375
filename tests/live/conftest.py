"""A real tmux on a private socket and a whole Termvisor beside it; both are always reaped."""

import pytest

from termvisor.testing.instance import instance
from termvisor.testing.tmux import private_tmux, short_folder


@pytest.fixture
def folder():
    with short_folder() as path:
        yield path


@pytest.fixture
def tmux(folder):
    with private_tmux(folder) as server:
        yield server


@pytest.fixture
def visor(folder, tmux):
    with instance(folder, tmux.socket) as one:
        yield one
