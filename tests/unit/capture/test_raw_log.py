"""List and select segments of the raw log."""

import os
import resource

import pytest

from termvisor.capture import raw_log
from termvisor.capture.raw_log import (
    PROBE_BYTES,
    DiskSpaceProbe,
    EpochProgress,
    StoredSegment,
    is_complete,
    is_sealable,
)
from termvisor.capture.sealing import SealOptions, seal_segment
from termvisor.model.ids import EpochId, PaneId
from termvisor.recorder.segment_log import SegmentWriter
from termvisor.redaction.raw_bytes import EDGE_BYTES

OPEN, CLOSED = EpochProgress(1 << 40, False), EpochProgress(1 << 40, True)


@pytest.fixture
def write_epoch(tmp_path):
    """Return a function that writes an epoch with segments of the given sizes."""

    def write_epoch(pane: int, epoch: int, *sizes: int, at: int = 100) -> str:
        folder = f"{tmp_path}/{pane}/{epoch}"
        writer = SegmentWriter(folder, 1)
        for number, size in enumerate(sizes):
            writer.append(b"x" * size, at)
            os.utime(f"{folder}/{sum(sizes[:number]):016d}.raw", ns=(at, at))
        writer.close()
        return folder

    return write_epoch


def build_segment(**facts) -> StoredSegment:
    known = {"pane": 1, "epoch": 1, "folder": "/f", "start": 0, "size": 10, "disk_bytes": 12, "written_at": 100}
    known |= {"is_compressed": False, "is_masked": False, "next_size": EDGE_BYTES}
    return StoredSegment(**(known | facts))


def test_every_segment_is_listed_with_its_size_and_the_next_size(write_epoch, tmp_path):
    write_epoch(2, 9, 5)
    seal_segment(write_epoch(1, 3, 7, 8), 0, SealOptions())
    seen = raw_log.list_segments(str(tmp_path))
    assert [(each.pane, each.epoch, each.start, each.size, each.next_size) for each in seen] == [
        (1, 3, 0, 7, 8),
        (1, 3, 7, 8, None),
        (2, 9, 0, 5, None),
    ]
    assert [(each.is_compressed, each.is_masked) for each in seen] == [(True, True), (False, False), (False, False)]
    assert seen[2].disk_bytes == 5 + 16


def test_foreign_names_and_damaged_files_are_ignored(write_epoch, tmp_path):
    (tmp_path / "notes").touch()
    folder = write_epoch(1, 1, 5)
    (tmp_path / "1" / "x").mkdir()
    os.rename(f"{folder}/0000000000000000.raw", f"{folder}/0000000000000000.raw.zst")
    assert [each.size for each in raw_log.list_segments(str(tmp_path))] == [0]
    assert raw_log.list_segments(str(tmp_path / "nowhere")) == []


def test_a_compressed_segment_that_is_deleted_while_it_is_listed_is_left_out(write_epoch, tmp_path, monkeypatch):
    folder = write_epoch(1, 1, 5, 6)
    seal_segment(folder, 0, SealOptions())

    def open_deleted(folder: str, start: int):
        raise FileNotFoundError

    monkeypatch.setattr(raw_log, "open_segment_file", open_deleted)
    assert [(each.start, each.size) for each in raw_log.list_segments(str(tmp_path))] == [(5, 6)]


@pytest.mark.parametrize(
    ("facts", "progress", "is_over", "is_ripe"),
    [
        ({}, OPEN, True, True),
        ({"next_size": None}, OPEN, False, False),
        ({"next_size": EDGE_BYTES - 1}, OPEN, True, False),
        ({"next_size": None}, CLOSED, True, True),
        ({}, EpochProgress(9, False), False, False),
        ({"next_size": None}, EpochProgress(9, True), False, False),
        ({"next_size": None}, None, True, True),
        ({"size": 0}, CLOSED, True, False),
        ({"is_compressed": True}, EpochProgress(0, False), True, True),
        ({"is_compressed": True, "next_size": None}, EpochProgress(0, False), False, False),
    ],
)
def test_a_segment_is_complete_when_it_is_closed_and_its_text_is_stored(facts, progress, is_over, is_ripe):
    known = {} if progress is None else {EpochId(1): progress}
    found = build_segment(**facts)
    assert (is_complete(found, known), is_sealable(found, known)) == (is_over, is_ripe)


def test_segments_last_written_before_the_limit_are_selected():
    old, new = build_segment(written_at=99), build_segment(written_at=100)
    assert raw_log.select_older_than([old, new], 100) == [old]


def test_the_oldest_segments_beyond_the_pane_limit_are_selected():
    first, second, third = build_segment(start=0), build_segment(start=10), build_segment(epoch=2, start=0)
    other = build_segment(pane=2, epoch=3)
    assert raw_log.select_beyond_pane_limit([first, second, third, other], 15) == [first]
    assert raw_log.select_beyond_pane_limit([first, second, third, other], 10) == [second, first]


def test_the_oldest_segments_are_selected_until_enough_bytes_are_freed():
    old, mid, new = (build_segment(epoch=epoch, written_at=at) for epoch, at in ((3, 1), (1, 2), (2, 3)))
    assert raw_log.select_oldest([new, mid, old], 13) == [old, mid]
    assert raw_log.select_oldest([new, mid, old], 0) == []


def test_empty_folders_of_closed_epochs_are_removed(tmp_path):
    for name in ("1/1", "1/2", "1/3", "2/4"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "1/3/0000000000000000.raw").touch()
    known = {EpochId(1): OPEN, EpochId(2): CLOSED, EpochId(3): CLOSED}
    raw_log.remove_empty_folders(raw_log.list_epoch_folders(str(tmp_path)), known)
    assert [(pane, epoch) for pane, epoch, _ in raw_log.list_epoch_folders(str(tmp_path))] == [(1, 1), (1, 3)]
    assert raw_log.list_panes_on_disk(str(tmp_path)) == {1}
    raw_log.remove_pane_folders(str(tmp_path), [PaneId(1), PaneId(2)])
    assert os.listdir(tmp_path) == ["1"]


def test_the_highest_ids_on_disk_are_known(write_epoch, tmp_path):
    assert raw_log.find_highest_ids(str(tmp_path)) == (0, 0)
    write_epoch(7, 2, 1)
    write_epoch(3, 9, 1)
    assert raw_log.find_highest_ids(str(tmp_path)) == (7, 9)


def test_the_disk_is_not_probed_while_writes_succeed(tmp_path):
    assert DiskSpaceProbe(f"{tmp_path}/nowhere/raw").has_space(0.0)


def test_capture_resumes_once_writes_succeed_and_leaves_no_probe_file(tmp_path):
    room = DiskSpaceProbe(f"{tmp_path}/later/raw")
    room.report_write_failure(10.0)
    assert (room.has_space(10.5), room.write_error) == (False, "a write failed")
    assert (room.has_space(11.0), room.write_error) == (False, "No such file or directory")
    (tmp_path / "later").mkdir()
    assert not room.has_space(11.5)
    assert (room.has_space(12.0), room.write_error) == (True, "")
    assert os.listdir(tmp_path / "later") == []


def test_less_space_than_the_probe_size_is_not_enough(tmp_path):
    room = DiskSpaceProbe(f"{tmp_path}/raw")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    room.report_write_failure(0.0)
    resource.setrlimit(resource.RLIMIT_FSIZE, (PROBE_BYTES // 2, before[1]))
    try:
        assert not room.has_space(5.0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert room.has_space(6.0)


def test_a_failed_write_after_a_probe_doubles_the_wait(tmp_path):
    room = DiskSpaceProbe(f"{tmp_path}/raw")
    room.report_write_failure(0.0)
    assert room.has_space(1.0)
    room.report_write_failure(1.5)
    assert (room.has_space(2.6), room.has_space(3.5)) == (False, True)
    room.report_write_failure(4.0)
    assert (room.has_space(7.9), room.has_space(8.0)) == (False, True)
    room.report_write_failure(500.0)
    assert room.has_space(501.0)
