"""Snapshots of decoders are private files, named for the offset at which decoding resumes."""

import os
import stat
from pathlib import Path

import pytest

from termvisor.model.ids import EpochId
from termvisor.pipeline.window_files import WindowFiles

EPOCH = EpochId(7)


@pytest.fixture
def files(tmp_path) -> WindowFiles:
    return WindowFiles(str(tmp_path))


def list_names(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "windows").iterdir())


def test_a_snapshot_is_loaded_by_its_offset_only(files):
    assert files.save(EPOCH, 100, b"rows")
    assert files.load(EPOCH, 100) == b"rows"
    assert files.load(EPOCH, 200) is None
    assert files.load(EpochId(8), 100) is None


def test_only_the_user_can_read_a_snapshot(files, tmp_path):
    files.save(EPOCH, 0, b"rows")
    modes = [stat.S_IMODE(os.stat(path).st_mode) for path in (tmp_path / "windows", tmp_path / "windows" / "7-0")]
    assert modes == [0o700, 0o600]


def test_an_older_snapshot_is_kept_until_the_newer_one_is_committed(files, tmp_path):
    files.save(EPOCH, 0, b"old")
    files.save(EPOCH, 50, b"new")
    assert list_names(tmp_path) == ["7-0", "7-50"]
    files.delete_older(EPOCH)
    assert list_names(tmp_path) == ["7-50"]
    files.delete_older(EPOCH)
    files.delete_older(EpochId(8))
    assert list_names(tmp_path) == ["7-50"]
    files.delete_all(EPOCH)
    assert list_names(tmp_path) == []


def test_snapshots_of_epochs_that_are_no_longer_read_are_deleted(files, tmp_path):
    for epoch in (1, 2, 3):
        files.save(EpochId(epoch), 5, b"")
    for name in ("note", "4-x", "x-4"):
        (tmp_path / "windows" / name).write_text("of a user")
    WindowFiles(str(tmp_path)).delete_strays(frozenset({EpochId(2)}))
    assert list_names(tmp_path) == ["2-5", "4-x", "note", "x-4"]


def test_a_snapshot_that_cannot_be_written_is_reported(tmp_path):
    (tmp_path / "windows").write_text("in the way")
    assert not WindowFiles(str(tmp_path)).save(EPOCH, 0, b"rows")


def test_a_symbolic_link_is_not_followed(files, tmp_path):
    files.save(EPOCH, 0, b"rows")
    (tmp_path / "windows" / "7-9").symlink_to(tmp_path / "elsewhere")
    assert not files.save(EPOCH, 9, b"rows")
    assert not (tmp_path / "elsewhere").exists()
