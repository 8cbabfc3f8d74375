"""Probe the disk with test writes, less often after a wrong result."""

import os
import resource

from termvisor.capture.disk_space_probe import PROBE_BYTES, DiskSpaceProbe


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


def test_a_little_room_is_not_enough(tmp_path):
    room = DiskSpaceProbe(f"{tmp_path}/raw")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    room.report_write_failure(0.0)
    resource.setrlimit(resource.RLIMIT_FSIZE, (PROBE_BYTES // 2, before[1]))
    try:
        assert not room.has_space(5.0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert room.has_space(6.0)


def test_a_try_that_was_wrong_is_not_repeated_at_once(tmp_path):
    room = DiskSpaceProbe(f"{tmp_path}/raw")
    room.report_write_failure(0.0)
    assert room.has_space(1.0)
    room.report_write_failure(1.5)
    assert (room.has_space(2.6), room.has_space(3.5)) == (False, True)
    room.report_write_failure(4.0)
    assert (room.has_space(7.9), room.has_space(8.0)) == (False, True)
    room.report_write_failure(500.0)
    assert room.has_space(501.0)
