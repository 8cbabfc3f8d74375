"""A scene is read with the earlier scenes of its run."""

import shutil
from pathlib import Path

import pytest

from termvisor.agents.recordings.recording import read_scenes
from termvisor.errors import BadRequest
from tests.recordings.scene import RECORDINGS_FOLDER, load_runs


def count_moments(path: Path) -> int:
    return len(read_scenes(str(path), path.read_bytes()).moments)


def test_only_earlier_scenes_of_the_same_run_are_read(tmp_path: Path) -> None:
    run = next(run for run in load_runs("claude_code") if len(run) > 3)
    for scene in run:
        shutil.copy(RECORDINGS_FOLDER / "claude_code" / f"{scene.name}.json", tmp_path)
    (tmp_path / "other.json").write_text("{}")
    shutil.copy(RECORDINGS_FOLDER / "codex" / "start.json", tmp_path / "codex_start.json")
    assert [count_moments(tmp_path / f"{scene.name}.json") for scene in run] == list(range(1, len(run) + 1))


def test_a_single_scene_is_one_moment(tmp_path: Path) -> None:
    shutil.copy(RECORDINGS_FOLDER / "claude_code" / "completed.json", tmp_path)
    assert count_moments(tmp_path / "completed.json") == 1


def test_another_file_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="is not a recording"):
        read_scenes(str(tmp_path / "x.json"), b"[]")
