import os
import stat
from pathlib import Path

import pytest

from termvisor.system import atomic_write


def test_a_new_file_gets_the_mode_that_is_named_and_an_old_one_keeps_its_own(tmp_path: Path) -> None:
    path = tmp_path / "file"
    atomic_write.write_atomically(str(path), b"one", atomic_write.stat_if_exists(str(path)), 0o640)
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"one", 0o640)
    path.chmod(0o604)
    atomic_write.write_atomically(str(path), b"two", atomic_write.stat_if_exists(str(path)))
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"two", 0o604)


def test_who_reads_meanwhile_has_the_old_one_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old and long")
    with path.open("rb") as reader:
        atomic_write.write_atomically(str(path), b"new", None)
        assert (reader.read(), path.read_bytes()) == (b"old and long", b"new")


def test_what_cannot_take_its_place_leaves_nothing_beside_it(tmp_path: Path) -> None:
    taken = tmp_path / "folder"
    (taken / "inside").mkdir(parents=True)
    with pytest.raises(OSError):
        atomic_write.write_atomically(str(taken), b"data", None)
    assert os.listdir(tmp_path) == ["folder"]
