"""Replay run histories that were recorded with the real daemon: the current code must make the same calls.

A changed workflow gets a new version; the histories of the old version are removed with it.
"""

from pathlib import Path

import pytest
from msgspec.structs import replace

from termvisor.errors import Diverged
from termvisor.testing.recorded_runs import decode_recorded_run, replay_run

FOLDER = Path(__file__).resolve().parents[1] / "recordings" / "histories"
FILES = sorted(FOLDER.glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
async def test_a_recorded_run_replays_without_diverging(path):
    await replay_run(decode_recorded_run(path.read_bytes()))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
async def test_a_history_with_a_changed_missing_or_extra_step_diverges(path):
    history = decode_recorded_run(path.read_bytes())
    first, *others = history.steps
    for steps in ([replace(first, given="{}"), *others], others, [first, first, *others]):
        with pytest.raises(Diverged):
            await replay_run(replace(history, steps=steps))


def test_recorded_histories_exist():
    assert FILES
