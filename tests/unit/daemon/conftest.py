"""Where a daemon would listen."""

import pytest


@pytest.fixture
def path(folder: str) -> str:
    return f"{folder}/daemon"
