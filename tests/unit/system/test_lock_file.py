"""The lock file of the daemon."""

import os
from pathlib import Path

from termvisor.system import lock_file


def test_the_holder_is_known_by_its_pid_and_the_lock_is_exclusive(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    assert lock_file.read_lock_holder(path) is None
    held = lock_file.acquire_lock(path)
    assert held is not None
    assert (lock_file.read_lock_holder(path), lock_file.acquire_lock(path)) == (os.getpid(), None)
    os.close(held)


def test_a_lock_that_was_let_go_is_free_though_the_file_stays(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    os.close(lock_file.acquire_lock(path) or -1)
    assert lock_file.read_lock_holder(path) is None
    again = lock_file.acquire_lock(path)
    assert again is not None
    os.close(again)


def test_a_holder_without_a_written_pid_is_still_a_holder(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    held = lock_file.acquire_lock(path)
    assert held is not None
    os.truncate(held, 0)
    assert lock_file.read_lock_holder(path) == 0
    os.close(held)
