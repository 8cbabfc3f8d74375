"""The socket path of a test daemon."""

import pytest


@pytest.fixture
def path(folder: str) -> str:
    return f"{folder}/daemon"
