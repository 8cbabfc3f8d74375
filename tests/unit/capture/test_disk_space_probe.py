"""Room is found by trying, not too often, and less often where a try was wrong."""

import os
import resource

from termvisor.capture.disk_space_probe import ENOUGH, Room


def test_nobody_asks_the_disk_while_all_is_well(tmp_path):
    assert Room(f"{tmp_path}/nowhere/raw").is_there(0.0)


def test_what_was_lost_comes_back_once_it_can_be_written_and_nothing_is_left_behind(tmp_path):
    room = Room(f"{tmp_path}/later/raw")
    room.lost(10.0)
    assert (room.is_there(10.5), room.why) == (False, "it could not be written")
    assert (room.is_there(11.0), room.why) == (False, "No such file or directory")
    (tmp_path / "later").mkdir()
    assert not room.is_there(11.5)
    assert (room.is_there(12.0), room.why) == (True, "")
    assert os.listdir(tmp_path / "later") == []


def test_a_little_room_is_not_enough(tmp_path):
    room = Room(f"{tmp_path}/raw")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    room.lost(0.0)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ENOUGH // 2, before[1]))
    try:
        assert not room.is_there(5.0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert room.is_there(6.0)


def test_a_try_that_was_wrong_is_not_repeated_at_once(tmp_path):
    room = Room(f"{tmp_path}/raw")
    room.lost(0.0)
    assert room.is_there(1.0)
    room.lost(1.5)
    assert (room.is_there(2.6), room.is_there(3.5)) == (False, True)
    room.lost(4.0)
    assert (room.is_there(7.9), room.is_there(8.0)) == (False, True)
    room.lost(500.0)
    assert room.is_there(501.0)
