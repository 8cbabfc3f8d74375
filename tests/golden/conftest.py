"""Golden files: rewritten with GOLDEN=write (`make golden`), compared otherwise."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

Compare = Callable[[str, str], None]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def _compare(path: Path, text: str) -> None:
    assert path.exists(), f"{path.name} is missing: run `make golden` and look at what it wrote"
    assert text == path.read_text("utf-8")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Compare:
    """Compare a text with the golden file of that name beside the test."""
    act = _write if os.environ.get("GOLDEN") == "write" else _compare
    return lambda name, text: act(request.path.parent / name, text)
