"""The tmux of each Debian release that `.ci/setup live` put into the checkout."""

import os
from pathlib import Path

import pytest

RELEASES = ("bookworm", "trixie", "forky", "sid")
PARTS = Path(__file__).parents[3] / ".parts"


def get_tmux_of(release: str) -> str:
    """Return the path of a release's tmux. Fails the test if it is missing."""
    program = PARTS / f"tmux-{release}" / "bin" / "tmux"
    if not os.access(program, os.X_OK):
        pytest.fail(f"the tmux of Debian {release} is missing. Fetch it with: .ci/newer-tmux {release}")
    return str(program)
