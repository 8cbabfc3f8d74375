"""Histories of runs, recorded with the real daemon: today's code must ask for the same, step by step.

A workflow that is changed gets a new version, and its old histories are removed with the version that they are of.
"""

from pathlib import Path

import pytest
from msgspec.structs import replace

from termvisor.errors import Diverged
from termvisor.testing.recorded_runs import decode_recorded_run, replay_run

FOLDER = Path(__file__).resolve().parents[1] / "recordings" / "histories"
FILES = sorted(FOLDER.glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
async def test_a_recorded_run_is_asked_for_in_the_same_way_today(path):
    await replay_run(decode_recorded_run(path.read_bytes()))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
async def test_a_history_with_a_changed_lost_or_further_step_diverges(path):
    history = decode_recorded_run(path.read_bytes())
    first, *others = history.steps
    for steps in ([replace(first, given="{}"), *others], others, [first, first, *others]):
        with pytest.raises(Diverged):
            await replay_run(replace(history, steps=steps))


def test_there_are_histories():
    assert FILES
