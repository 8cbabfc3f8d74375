"""The recordings of released versions, replayed, meet the goals for versions that no rule was written for."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.accuracy.version_accuracy import join_accuracies, measure_recordings
from tests.recordings.version_recording import FOLDER, list_recordings, load_recording

AGENTS = sorted(folder.name for folder in FOLDER.iterdir() if folder.is_dir())
SOURCES = pytest.mark.parametrize("uses_records", [True, False], ids=["all sources", "screen"])
MAX_RECORDINGS, MAX_FOLDER_BYTES = 60, 1 << 20


def list_missed_budgets(paths: Iterable[Path], *, uses_records: bool) -> list[str]:
    measured = join_accuracies(
        "states", list(measure_recordings(paths, uses_records=uses_records)), uses_records=uses_records
    )
    assert measured.moments
    missed = [one.name for one in measured.build_figures() if not one.is_within_budget]
    return missed and [*missed, *(one.describe() for one in measured.moments if not one.is_right)]


@SOURCES
@pytest.mark.parametrize("agent", AGENTS)
def test_states_of_released_versions_are_right(agent: str, uses_records: bool) -> None:
    seen = [path for path in list_recordings(agent) if not load_recording(path).is_held_out]
    assert list_missed_budgets(seen, uses_records=uses_records) == []


@SOURCES
def test_states_of_held_out_versions_are_right(uses_records: bool) -> None:
    held_out = [path for path in list_recordings() if load_recording(path).is_held_out]
    assert list_missed_budgets(held_out, uses_records=uses_records) == []


def test_the_recordings_are_few_and_small() -> None:
    paths = list(list_recordings())
    assert len(paths) <= MAX_RECORDINGS
    assert sum(path.stat().st_size for path in paths) <= MAX_FOLDER_BYTES
