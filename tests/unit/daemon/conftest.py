"""Short private folders for sockets."""

from collections.abc import Iterator

import pytest

from termvisor.testing.tmux import short_folder


@pytest.fixture
def folder() -> Iterator[str]:
    with short_folder() as path:
        yield path


@pytest.fixture
def path(folder: str) -> str:
    return f"{folder}/daemon"
