"""A short private folder, and a daemon in it."""

from collections.abc import Iterator

import pytest

from termvisor.settings import Places
from termvisor.testing.tmux import short_folder
from tests.unit.memory import memory_daemon


@pytest.fixture
def folder() -> Iterator[str]:
    with short_folder() as path:
        yield path


@pytest.fixture
def daemon(folder: str) -> Iterator[Places]:
    with memory_daemon(folder) as places:
        yield places
