import os
import stat

import pytest

from termvisor.errors import StorageError
from termvisor.jobs import wrapper
from termvisor.jobs.job_folder import JobFolder, is_wrapper_alive, list_job_ids
from termvisor.model.ids import JobId
from termvisor.model.job import JobSpec
from termvisor.system.procfs import read_boot_id, read_start_time


@pytest.fixture
def folder(tmp_path) -> JobFolder:
    folder = JobFolder(str(tmp_path / "jobs"), JobId(3))
    folder.prepare(JobSpec(argv=("true",), env={"TOKEN": "s3cret"}), 2.0)
    return folder


def test_the_folder_and_its_files_are_private(folder) -> None:
    modes = {name: stat.S_IMODE(os.stat(f"{folder.path}/{name}").st_mode) for name in os.listdir(folder.path)}
    assert stat.S_IMODE(os.stat(folder.path).st_mode) == 0o700
    assert modes == {"spec": 0o600, "key": 0o600, "result": 0o600, "go": 0o600}


def test_the_result_file_has_its_full_size_before_anything_starts(folder) -> None:
    assert os.path.getsize(f"{folder.path}/result") == wrapper.RESULT_BYTES
    assert folder.read_result() is None


def test_a_result_without_our_key_is_no_result(folder) -> None:
    fields = {
        "state": "finished",
        "code": 0,
        "sig": 0,
        "t0": 1,
        "t1": 2,
        "user": 0,
        "sys": 0,
        "rss": 0,
        "pid": 1,
        "boot": "-",
    }
    for key, expected in ((b"other", None), (folder._read_key(), 0)):
        with open(f"{folder.path}/result", "wb") as file:
            file.write(wrapper.format_result(key, fields))
        found = folder.read_result()
        assert (found and found.end.code) == expected


def test_only_our_own_mark_ends_the_output(folder) -> None:
    own = wrapper.format_end_mark(folder._read_key(), "3", 0, 0)
    forged = wrapper.format_end_mark(b"guess", "3", 0, 0)
    other_job = wrapper.format_end_mark(folder._read_key(), "4", 0, 0)
    data = b"a" + forged + b"b" + other_job + wrapper.MARK_PREFIX + b"c" + own + b"later"
    assert folder.find_end_mark(data) == (data.index(own), data.index(b"later"))
    assert folder.find_end_mark(data[: data.index(own) + 20]) is None


def test_another_daemon_reads_the_same_folder(folder, tmp_path) -> None:
    again = JobFolder(str(tmp_path / "jobs"), JobId(3))
    own = wrapper.format_end_mark(folder._read_key(), "3", 1, 0)
    assert again.find_end_mark(own) == (0, len(own))
    assert list_job_ids(str(tmp_path / "jobs")) == [3]


def test_a_removed_folder_is_no_error(folder) -> None:
    folder.remove()
    folder.begin()
    folder.remove()
    assert folder.read_result() is None


def test_a_folder_that_cannot_be_written_starts_nothing(tmp_path) -> None:
    (tmp_path / "jobs").write_text("in the way")
    with pytest.raises(StorageError):
        JobFolder(str(tmp_path / "jobs"), JobId(1)).prepare(JobSpec(argv=("true",)), 2.0)


def test_a_process_id_alone_proves_nothing() -> None:
    pid, boot = os.getpid(), read_boot_id()
    assert is_wrapper_alive(pid, read_start_time(pid), boot)
    assert not is_wrapper_alive(pid, read_start_time(pid) + 1, boot)
    assert not is_wrapper_alive(pid, read_start_time(pid), "another boot")
    assert not is_wrapper_alive(0, 0, boot)
